import WaybillCore

/// `ExportTraceServiceResponse` of opentelemetry/proto/collector/trace/v1/trace_service.proto: empty where all spans were
/// taken, else how many were not, and why.
extension SpanVerdict {
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        if refusedCount > 0 {
            writer.key("partialSuccess")
            writer.beginObject()
            // An integer of 64 bits is a string.
            writer.member("rejectedSpans", "\(refusedCount)")
            writer.member("errorMessage", message)
            writer.endObject()
        }
        writer.endObject()
        return writer.bytes
    }

    package var protobuf: [UInt8] {
        guard refusedCount > 0 else { return [] }
        var partial: [UInt8] = [0x08] + Self.varint(refusedCount)
        let text = Array((message ?? "").utf8)
        partial += [0x12] + Self.varint(text.count) + text
        return [0x0A] + Self.varint(partial.count) + partial
    }

    private static func varint(_ value: Int) -> [UInt8] {
        var (bytes, rest): ([UInt8], Int) = ([], value)
        while rest > 0x7F {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }
}
