/// `00-<trace>-<parent>-<flags>` (https://www.w3.org/TR/trace-context-2/#traceparent-header).
package struct TraceParent: Equatable, Sendable {
    package static let fieldName = "traceparent"
    package static let stateFieldName = "tracestate"

    package var trace: GUID
    package var parent: SpanID
    /// Bit 0: sampled. Bit 1: the last 7 bytes of the trace ID are random (level 2).
    package var flags: UInt8
    package var others: String?

    package init(trace: GUID, parent: SpanID, flags: UInt8) {
        (self.trace, self.parent, self.flags) = (trace, parent, flags)
    }

    /// `nil` if the transaction's ID is no valid trace ID. A UUIDv7 sets the random flag.
    package init?(of trace: GUID, parent: SpanID) {
        guard trace.traceID != nil else { return nil }
        self.init(trace: trace, parent: parent, flags: trace.isVersion7 ? 0x03 : 0x01)
    }

    /// Parses a field's value; `nil` if it is invalid (section 3.2.2). Later versions are read like 00, with one flag.
    package init?(parsing value: String) {
        let bytes = Array(value.utf8.prefix(Self.lengthLimit + 1))
        guard bytes.count >= 55, bytes.count <= Self.lengthLimit, bytes[2] == Self.hyphen, bytes[35] == Self.hyphen,
            bytes[52] == Self.hyphen, let version = Self.number(bytes[0..<2]), version != 0xFF,
            let high = Self.number(bytes[3..<19]), let low = Self.number(bytes[19..<35]), high != 0 || low != 0,
            let parent = Self.number(bytes[36..<52]).flatMap({ SpanID(rawValue: $0) }),
            let flags = Self.number(bytes[53..<55])
        else { return nil }
        guard version == 0 ? bytes.count == 55 : bytes.count == 55 || bytes[55] == Self.hyphen else { return nil }
        self.init(trace: GUID(high: high, low: low), parent: parent, flags: UInt8(flags) & (version == 0 ? 0xFF : 0x01))
    }

    private static let hyphen = UInt8(ascii: "-")
    private static let lengthLimit = 512

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            guard !digit.isCapital, let value = digit.hexadecimalValue else {
                return nil
            }
            number = number << 4 | UInt64(value)
        }
        return number
    }
}

extension TraceParent: CustomStringConvertible {
    package var description: String {
        "00-\(trace.traceID ?? "")-\(parent)-\(flags < 16 ? "0" : "")\(String(flags, radix: 16))"
    }
}

/// Carries the use case through other services (https://www.w3.org/TR/trace-context-2/#tracestate-header).
package enum TraceState {
    private static let key = "waybill"
    /// The maximum length that is read. Vendors should propagate at least 512 bytes.
    private static let lengthLimit = 8_192

    private static let memberLimit = 32

    package static func value(useCase: Int, others: String? = nil) -> String {
        "\(key)=u:\(useCase)" + (others.map { ",\($0)" } ?? "")
    }

    /// At most 31 members of other vendors, without spaces, because Waybill's own is the 32nd.
    package static func others(in value: String) -> String? {
        guard value.utf8.count <= lengthLimit, value.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x09 })
        else {
            return nil
        }
        let others = value.split(separator: ",").map(\.trimmed).filter { !$0.isEmpty && !$0.hasPrefix("\(key)=") }
        guard !others.isEmpty, others.allSatisfy({ $0.contains("=") }) else { return nil }
        return others.prefix(memberLimit - 1).joined(separator: ",")
    }

    package static func useCase(in value: String) -> Int? {
        guard value.utf8.count <= lengthLimit else { return nil }
        for member in value.split(separator: ",") {
            let member = member.drop { $0 == " " || $0 == "\t" }
            guard member.hasPrefix("\(key)=u:") else { continue }
            let digits = member.dropFirst(key.count + 3).prefix { $0 != " " && $0 != "\t" }
            guard digits.utf8.count <= 15, digits.utf8.allSatisfy(\.isDigit), let code = Int(digits) else { return nil }
            return code
        }
        return nil
    }
}

extension GUID {
    /// Whether the ID has the form of a UUIDv7 (RFC 9562, section 5.7), as all of Waybill's do.
    package var isVersion7: Bool { high >> 12 & 0xF == 7 && low >> 62 == 0b10 }
}
