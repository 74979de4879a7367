import WaybillCore
package import WaybillQueries

extension ErrorsAnswer {
    func table(_ question: ErrorsQuestion, _ subject: String) -> AnswerTable {
        let step = AnswerTable.title(each: question.stepMicroseconds)
        let hasUsers = errors.contains { $0.users > 0 }
        let isOfSeveral = Set(errors.flatMap(\.useCases)).count > 1
        let hasCauses = errors.contains { !$0.error.underlying.isEmpty }
        let starts = errors.flatMap(\.rates).map(\.startMicroseconds)
        var fields: [Field<Entry>] = [
            Field(nil, "Error", .name) { .text($0.name, .bad).listing($0.conditions) },
            Field(nil, hasCauses ? "Caused by" : nil, .name) { .text($0.cause, as: $0.cause ?? "") },
            Field(nil, isOfSeveral ? "Use case" : nil, .name) { .text($0.useCaseNames) },
            Field(nil, question.newSince == nil ? nil : "New", .word) {
                $0.isNew == true ? .text("new", .warning) : .text(nil, as: "")
            },
            Field("domain") { .text($0.error.domain) }, Field("code") { .count($0.error.code) },
            Field("name") { .text($0.error.name) },
        ]
        fields += causeFields
        fields += [
            Field("use_cases") { .text($0.useCases.map(\.name).joined(separator: "; ")) },
            Field("count", "Count") { .count($0.count) },
            Field("transactions") { .count($0.transactions) },
            Field(nil, "Of runs") { .share($0.count, of: $0.transactions) },
            Field("users", hasUsers ? "Users" : nil) { .count($0.users) },
            Field("installations", hasUsers ? nil : "Installations") { .count($0.installations) },
            Field("first", "First seen", .word) { Self.time($0.firstMicroseconds) },
            Field("last", "Last seen", .word) { Self.time($0.lastMicroseconds) },
            Field("versions", "Versions", .name) {
                .text($0.versions.joined(separator: "; "), as: $0.versionWords)
            },
            Field("new") { .text($0.isNew.map { "\($0)" }) },
            Field(nil, step, .word) {
                .series(
                    $0.rates.map { ($0.startMicroseconds, $0.count) }, each: question.stepMicroseconds, from: starts)
            },
        ]
        var table = AnswerTable(errors, fields)
        table.heading = (subject, ", errors that transactions closed with; times in UTC")
        table.spare = [
            "First seen", "Caused by", step, "Versions", "Use case", "Installations", "Users", "Last seen",
        ]
        table.moreCount = moreCount
        table.sentences = [Self.remark]
        return table
    }

    /// The number of errors beyond the limit. A collector may send any count.
    package var moreCount: Int { max(0, max(0, errorCount) - errors.count) }

    package static let remark =
        "An error counts if a transaction closed with it; those of events and requests in other transactions do not."

    private var causeFields: [Field<Entry>] {
        [
            Field("cause_domain") { .text($0.error.underlying.last?.domain) },
            Field("cause_code") { AnswerTable.Cell(value: .count($0.error.underlying.last?.code)) },
            Field("cause_name") { .text($0.error.underlying.last?.name) },
        ]
    }

    private static func time(_ microseconds: Int64) -> AnswerTable.Cell {
        let time = Words.iso8601(microseconds)
        return .text(time, as: String(time.prefix(16)).replacing("T", with: " "))
    }
}

extension ErrorsAnswer.Entry {
    package var name: String {
        var error = error
        error.underlying = []
        return Words.error(error)
    }

    package var cause: String? { error.underlying.isEmpty ? nil : Words.causes(of: error) }

    package var useCaseNames: String { useCases.map(\.name).joined(separator: ", ") }

    /// The first and the last version if there are more than two.
    package var versionWords: String {
        versions.count > 2
            ? "\(versions[0]) to \(versions[versions.count - 1])" : versions.joined(separator: ", ")
    }

    /// The conditions of exactly these transactions; empty if redaction has changed the error.
    package var conditions: [FilterCondition] {
        let error = error.identity
        let words = error.chain.flatMap { [$0.domain, $0.name ?? ""] }
        return words.contains { $0.contains(Redactor.placeholder) } ? [] : [.finishError(error)]
    }
}
