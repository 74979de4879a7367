extension Int64 {
    /// Microseconds as people read them: `850 µs`, `12.3 ms`, `1.25 s`, `3 min 20 s`, `5 h 10 min`, `2 d 4 h`.
    package var durationText: String {
        let sign = self < 0 ? "-" : ""
        let magnitude = Int64(clamping: magnitude)
        let seconds = magnitude / 1_000_000
        switch magnitude {
        case ..<1000: return "\(sign)\(magnitude) µs"
        case ..<10_000: return "\(sign)\(magnitude.decimalText(per: 1000, digits: 2)) ms"
        case ..<1_000_000: return "\(sign)\(magnitude.decimalText(per: 1000, digits: 1)) ms"
        case ..<60_000_000: return "\(sign)\(magnitude.decimalText(per: 1_000_000, digits: 2)) s"
        case ..<3_600_000_000: return "\(sign)\(seconds / 60) min \(seconds % 60) s"
        case ..<86_400_000_000: return "\(sign)\(seconds / 3600) h \(seconds % 3600 / 60) min"
        default: return "\(sign)\(seconds / 86_400) d \(seconds % 86_400 / 3600) h"
        }
    }

    /// In another unit, rounded: 12345 per 1000 with one digit is `12.3`.
    ///
    /// - Parameter digits: After the point: 1 or 2.
    package func decimalText(per unit: Int64, digits: Int) -> String {
        let scale: Int64 = digits == 1 ? 10 : 100
        let scaled = (self * scale + unit / 2) / unit
        return "\(scaled / scale).\(String(scale + scaled % scale).dropFirst())"
    }
}
