#if Collector
import Foundation
import WaybillCore

/// How values are written for people: times, durations, sizes, outcomes, errors, attributes.
enum Words {
    /// `850 µs`, `12.3 ms`, `1.25 s`, `3 min 20 s`, `5 h 10 min`, `2 d 4 h`.
    static func duration(_ microseconds: Int) -> String {
        let sign = microseconds < 0 ? "-" : ""
        let magnitude = Int(clamping: microseconds.magnitude)
        let seconds = magnitude / 1_000_000
        switch magnitude {
        case ..<1000: return "\(sign)\(magnitude) µs"
        case ..<10_000: return "\(sign)\(decimal(magnitude, per: 1000, digits: 2)) ms"
        case ..<1_000_000: return "\(sign)\(decimal(magnitude, per: 1000, digits: 1)) ms"
        case ..<60_000_000: return "\(sign)\(decimal(magnitude, per: 1_000_000, digits: 2)) s"
        case ..<3_600_000_000: return "\(sign)\(seconds / 60) min \(seconds % 60) s"
        case ..<86_400_000_000: return "\(sign)\(seconds / 3600) h \(seconds % 3600 / 60) min"
        default: return "\(sign)\(seconds / 86_400) d \(seconds % 86_400 / 3600) h"
        }
    }

    /// `2026-03-01 12:00:00.250`, in UTC.
    static func time(_ microsecondsSince1970: Int) -> String {
        // The seconds alone go through `Date`, whose `Double` would round the fraction up and down.
        let (seconds, microseconds) = microsecondsSince1970.quotientAndRemainder(flooringBy: 1_000_000)
        let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space).dateSeparator(.dash).year().month().day().time(
            includingFractionalSeconds: false)
        let milliseconds = String(1000 + microseconds / 1000).dropFirst()
        return "\(Date(timeIntervalSince1970: Double(seconds)).formatted(style)).\(milliseconds)"
    }

    /// `310 B`, `4.2 kB`, `1.3 MB`.
    static func byteCount(_ count: Int) -> String {
        switch count {
        case ..<1000: "\(count) B"
        case ..<1_000_000: "\(decimal(count, per: 1000, digits: 1)) kB"
        default: "\(decimal(count, per: 1_000_000, digits: 1)) MB"
        }
    }

    /// `3 events`, `1 event`.
    static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// `timed out`.
    static func outcome(_ outcome: Outcome) -> Cell {
        let ink: Ink =
            switch outcome {
            case .succeeded: .green
            case .failed: .red
            case .canceled, .abandoned, .interrupted, .timedOut: .yellow
            case .open: .cyan
            }
        return Cell(outcome.name.replacing("_", with: " "), ink)
    }

    /// `LoginError 3: no such user`.
    static func error(_ error: RecordedError) -> String {
        let name = error.domain.isEmpty ? "error \(error.code)" : "\(error.domain) \(error.code)"
        return error.text.map { "\(name): \($0)" } ?? name
    }

    /// `fact 7 of source 01890a5d-... was rejected: ...`.
    static func rejection(_ rejection: Rejection) -> String {
        let fact = rejection.sequence.map { "fact \($0)" } ?? "the fact at index \(rejection.index)"
        return "\(fact) of source \(rejection.source) was rejected: \(rejection.reason)"
    }

    /// `variant=B wide=true`, by name.
    static func attributes(_ attributes: Attributes) -> String {
        attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }

    private static func decimal(_ value: Int, per unit: Int, digits: Int) -> String {
        let scale = digits == 1 ? 10 : 100
        let scaled = (value * scale + unit / 2) / unit
        return "\(scaled / scale).\(String(scale + scaled % scale).dropFirst())"
    }
}

extension Int {
    fileprivate func quotientAndRemainder(flooringBy divisor: Int) -> (Int, Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
#endif
