package import WaybillCore
package import WaybillQueries
import WaybillStore

extension Redacted<NetworkAnswer> {
    package func table(_ question: NetworkQuestion) -> AnswerTable { value.tables(question)[0] }
}

extension NetworkAnswer {
    private typealias Sort = NetworkQuestion.Sort

    private static let exampleLimit = 5

    func tables(_ question: NetworkQuestion) -> [AnswerTable] {
        var fields: [Field<NetworkGroup>] = [
            Field("role") { .text($0.role.name) }, Field("host") { .text($0.host) }, Field("path") { .text($0.path) },
            Field("method") { .text($0.method) }, Field(nil, Sort.name.title, .name) { .text($0.title, .strong) },
            Field("count", Sort.count.title) { .count($0.count) },
            Field(nil, Sort.errors.title) {
                $0.failingCount > 0 ? .share($0.failingCount, of: $0.count, .bad) : .zero
            },
            Field(nil, Sort.timeouts.title) { .positive($0.timeoutCount, .bad) },
        ]
        let statuses: [(name: String, title: String?, count: KeyPath<NetworkGroup.StatusCounts, Int64>)] = [
            ("successful", nil, \.successful), ("redirection", nil, \.redirection),
            ("client_error", "4xx", \.clientError), ("server_error", "5xx", \.serverError), ("other", nil, \.other),
            ("none", "None", \.none),
        ]
        fields += statuses.map { status in
            Field(status.name, status.title) { .positive($0.statuses[keyPath: status.count], .bad) }
        }
        fields += Field.durations({ $0.succeeded }, prefix: nil, titles: [Sort.p50, .p95, .p99].map(\.title))
        fields += [
            Field(nil, Sort.allP50.title) { .time($0.all.p50Microseconds) },
            Field(nil, Sort.allP95.title) { .time($0.all.p95Microseconds) },
            Field(nil, Sort.allP99.title) { .time($0.all.p99Microseconds) },
            Field("sent_byte_count", Sort.sent.title) { AnswerTable.Cell(value: .byteCount($0.sentByteCount)) },
            Field("received_byte_count", Sort.received.title) {
                AnswerTable.Cell(value: .byteCount($0.receivedByteCount))
            },
        ]
        fields += Field.durations({ $0.whole }, prefix: "whole_") + Field.durations({ $0.failed }, prefix: "failed_")
        fields += Field.durations({ $0.firstByte }, prefix: "first_byte_")
        fields += [
            Field("failing_count") { .count($0.failingCount) }, Field("timeout_count") { .count($0.timeoutCount) },
        ]
        fields += Field.durations({ $0.succeeded }, prefix: "succeeded_") + Field.durations({ $0.all }, prefix: "all_")
        var table = AnswerTable(groups + other, fields)
        table.heading = (Words.count(exchanges, "exchange"), "")
        table.spare = ["All p50", "Sent", "All p95", "Received", "None", "4xx", "5xx", "Timeouts", "p50", "All p99"]
            .filter { $0 != question.sort.title }
        table.notes = notes
        return [table, examples("slowest", \.slowest), examples("failing", \.failing)]
    }

    /// Sentences about the exchanges outside the durations, and about timeouts, which only some percentiles include.
    private var notes: [String] {
        let failed = groups.filter { $0.failed.count > 0 }
        let cancelled = groups.reduce(0) { $0 + ($1.states[.cancelled] ?? 0) }
        var sentences = [
            "p50, p95 and p99 are of successes. “All” also counts errors and timeouts."
        ]
        if cancelled > 0 { sentences.append("Cancelled ones (\(cancelled)) count in neither.") }
        if let beyond = otherSentence { sentences.append(beyond) }
        guard !failed.isEmpty else { return sentences }
        let lines = failed.map { group in
            let times = [("p50", group.failed.p50Microseconds), ("at most", group.failed.maximumMicroseconds)]
            return "  \(group.title): \(group.failed.count), "
                + times.map { "\($0) \($1.map(Words.duration) ?? "-")" }.joined(separator: ", ")
        }
        return sentences + ["Failed, timeouts among them:"] + lines
    }

    /// One sentence about the exchanges of other groups; `nil` if the answer has all groups.
    package var otherSentence: String? {
        guard !other.isEmpty else { return nil }
        let count = Words.count(other.reduce(0) { $0 + $1.count }, "exchange")
        return "Besides these \(groups.count), (other) counts \(count); the limit is \(NetworkQuestion.groupLimit)."
    }

    private func examples(_ title: String, _ list: KeyPath<NetworkGroup, [NetworkGroup.Example]>) -> AnswerTable {
        let all = groups.flatMap { group in group[keyPath: list].map { (group: group, example: $0) } }
            .sorted { $0.example.durationMicroseconds ?? 0 > $1.example.durationMicroseconds ?? 0 }
        var table = AnswerTable(
            Array(all.prefix(Self.exampleLimit)),
            [
                Field(nil, "Exchange", .word) { .text($0.example.id.code) },
                Field(nil, "Status", .word) { row in
                    .text(row.example.status.map { "\($0)" } ?? row.example.error.map(Words.error))
                }, Field(nil, "Duration") { .time($0.example.durationMicroseconds) },
                Field(nil, "Host and path", .name) { .text($0.group.title, .faint) },
            ])
        table.heading = ("", title)
        return table
    }
}

extension NetworkGroup {
    /// `▶` marks exchanges that a server recorded.
    package var title: String {
        let place = (host ?? "") + (path ?? "")
        let words = [role == .server ? "▶" : nil, method, place.isEmpty ? "(unknown)" : place]
        return words.compactMap(\.self).joined(separator: " ")
    }
}

extension NetworkQuestion.Sort {
    package var title: String {
        switch self {
        case .count: "Count"
        case .errors: "Errors"
        case .timeouts: "Timeouts"
        case .p50: "p50"
        case .p95: "p95"
        case .p99: "p99"
        case .allP50: "All p50"
        case .allP95: "All p95"
        case .allP99: "All p99"
        case .sent: "Sent"
        case .received: "Received"
        case .name: "Host and path"
        }
    }
}
