/// What a fact is called where it is a span (W3C Trace Context, section 3.2.2.4): 8 bytes, never all zero, the same
/// wherever it is computed.
///
/// Half as long as what it stands for, so two facts may share one; within a trace of a million spans the odds are one
/// in 10 million.
package struct SpanID: Hashable, Sendable {
    package let rawValue: UInt64

    /// One that somebody else has made; nil for 0, which is none.
    package init?(rawValue: UInt64) {
        guard rawValue != 0 else { return nil }
        self.rawValue = rawValue
    }

    /// Mixes source and sequence.
    package init(_ fact: Fact.ID) {
        var hash = fact.source.high.splitMixed
        hash = (hash ^ fact.source.low).splitMixed
        hash = (hash ^ UInt64(bitPattern: Int64(fact.sequence))).splitMixed
        rawValue = hash == 0 ? 1 : hash
    }
}

extension SpanID: CustomStringConvertible {
    /// 16 hexadecimal digits in lower case.
    package var description: String { rawValue.hexadecimalDigits }
}

extension GUID {
    /// The ID of its trace (W3C Trace Context, section 3.2.2.3): the 16 bytes as 32 hexadecimal digits; nil where all
    /// are zero, which is none.
    package var traceID: String? { high == 0 && low == 0 ? nil : high.hexadecimalDigits + low.hexadecimalDigits }
}

extension UInt64 {
    /// The next number of SplitMix64 from this state (Steele, Lea, Flood: "Fast splittable pseudorandom number
    /// generators", 2014).
    var splitMixed: UInt64 {
        var value = self &+ 0x9E37_79B9_7F4A_7C15
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    fileprivate var hexadecimalDigits: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
