#if Collector
package import Foundation
package import WaybillCore
package import WaybillExport
import WaybillQueries

package struct Budget: Decodable, Sendable {
    var useCase: String
    var filter, since, until: String?
    var p50Milliseconds, p95Milliseconds, p99Milliseconds, failedPercent: Double?
    var noNewErrorsSince: String?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case useCase = "use_case"
        case filter, since, until
        case p50Milliseconds = "p50_ms"
        case p95Milliseconds = "p95_ms"
        case p99Milliseconds = "p99_ms"
        case failedPercent = "failed_percent"
        case noNewErrorsSince = "no_new_errors_since"
    }

    private static let byteLimit = 1 << 20
    /// The budgets that a collector checks every minute.
    package static let alertLimit = 100

    package static func read(_ file: URL) throws -> [Budget] {
        let name = file.relativePath
        let bytes: Data
        let budgets: [Budget]
        do {
            let handle = try FileHandle(forReadingFrom: file)
            bytes = try handle.read(upToCount: byteLimit + 1) ?? Data()
        } catch {
            throw WaybillError(.setting, "Can't read \(name). Is it there?", cause: "\(error)")
        }
        guard bytes.count <= byteLimit else {
            throw WaybillError(.setting, "\(name) has more than \(byteLimit) bytes.")
        }
        do { budgets = try JSONDecoder().decode([Budget].self, from: bytes) } catch {
            throw WaybillError(
                .setting, "\(name) is no list of budgets. See waybill help check.", cause: "\(error)")
        }
        // A misspelt limit would always hold.
        let known = Set(CodingKeys.allCases.map(\.rawValue))
        let objects = try JSONSerialization.jsonObject(with: bytes) as? [[String: Any]] ?? []
        for key in objects.flatMap(\.keys).sorted() where !known.contains(key) {
            throw WaybillError(.setting, "\(name): a budget has no member “\(key)”; see waybill help check.")
        }
        guard !budgets.isEmpty, budgets.allSatisfy(\.hasLimit) else {
            throw WaybillError(.setting, "\(name): a budget has no limit; see waybill help check.")
        }
        return budgets
    }

    private var hasLimit: Bool {
        noNewErrorsSince != nil || !([failedPercent] + percentiles.map(\.limit)).allSatisfy { $0 == nil }
    }

    private var percentiles: [(percent: Int, limit: Double?, value: KeyPath<DurationStatistics, Duration?>)] {
        [(50, p50Milliseconds, \.p50), (95, p95Milliseconds, \.p95), (99, p99Milliseconds, \.p99)]
    }

    package func checked(in store: any ExportingStore, now: Int64) async throws -> [CheckedLimit] {
        let request = ListRequest([.useCase: useCase, .filter: filter, .since: since, .until: until])
        try request.validate(about: .transactions)
        var checked: [CheckedLimit] = []
        func add(_ limit: String, _ found: String?, _ holds: Bool) {
            checked.append(
                CheckedLimit(
                    useCase: useCase, limit: limit, found: found ?? "nothing counts",
                    verdict: found == nil ? .undecided : holds ? .holds : .broken, filter: filter, since: since,
                    until: until))
        }
        let summary = AnyQuestion.summary(SummaryQuestion())
        var found: UseCaseSummary?
        if case .summary(_, let answer) = try await store.answer(summary, where: request.items) {
            found = answer.useCases.first
            for (percent, limit, value) in percentiles {
                guard let limit else { continue }
                let took = found?.succeeded[keyPath: value]?.microseconds
                add(
                    "p\(percent) of successes at most \(limit.formatted()) ms", took.map(\.durationText),
                    took.map { Double($0) <= limit * 1_000 } ?? false)
            }
            if let failedPercent {
                let ended = found?.outcomes.reduce(0) { $1.key == .open ? $0 : $0 + $1.value } ?? 0
                let share = ended > 0 ? Double(found?.outcomes[.failed] ?? 0) / Double(ended) : nil
                add(
                    "failures at most \(failedPercent.formatted()) %", share.map { "\($0.percentText) of \(ended)" },
                    share.map { $0 * 100 <= failedPercent } ?? false)
            }
        }
        guard let noNewErrorsSince else { return checked }
        guard let time = TimeExpression.microseconds(noNewErrorsSince, now: now) else {
            throw WaybillError(.setting, "“\(noNewErrorsSince)” is not a time. Give \(TimeExpression.forms).")
        }
        let errors = AnyQuestion.errors(ErrorsQuestion(newSince: Date(microseconds: time), order: .new))
        if case .errors(_, let answer) = try await store.answer(errors, where: request.items) {
            let new = answer.errors.filter { $0.isNew == true }
            add(
                "no error new since \(noNewErrorsSince)",
                found == nil ? nil : new.isEmpty ? "none" : new.map(\.name).joined(separator: ", "),
                new.isEmpty)
        }
        return checked
    }
}

package struct CheckedLimit: Codable, Hashable, Sendable, Redactable {
    package enum Verdict: String, Codable, Sendable {
        case holds, broken
        /// No transaction counts.
        case undecided
    }

    package var useCase, limit, found: String
    package var verdict: Verdict
    /// The transactions that count; `nil` without these conditions.
    package var filter, since, until: String?

    package mutating func redact(by redactor: Redactor) {
        found.redact(by: redactor)
        filter.redact(by: redactor)
    }
}
#endif
