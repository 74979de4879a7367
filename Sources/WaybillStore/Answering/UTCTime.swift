/// The UTC day and hour of a time, as ISO 8601 writes them: without Foundation's formatters, which cost microseconds a call.
struct UTCTime {
    private let days: Int
    private let hours: Int

    init(microseconds: Int) {
        let hours = (Double(microseconds) / 3_600_000_000).rounded(.down)
        days = Int((hours / 24).rounded(.down))
        self.hours = Int(hours) - days * 24
    }

    /// `2026-03-01`.
    var day: String {
        let (year, month, day) = civil
        return "\(year)-\(Self.two(month))-\(Self.two(day))"
    }

    /// `2026-03-01T07:00Z`.
    var hour: String { "\(day)T\(Self.two(hours)):00Z" }

    /// The Gregorian date: Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
    private var civil: (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
