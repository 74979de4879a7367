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
        let partial = ProtobufWriter.integer(refusedCount, field: 1) + ProtobufWriter.text(message ?? "", field: 2)
        return ProtobufWriter.bytes(partial, field: 1)
    }
}
