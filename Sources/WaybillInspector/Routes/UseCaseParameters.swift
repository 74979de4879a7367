import Foundation
import WaybillCore
import WaybillQueries

/// The parameters of a use case's page: conditions, and the question's own parameters.
struct UseCaseParameters {
    private let view: UseCaseView
    private let own: [(name: String, value: String)]
    let conditions: [(name: String, value: String)]

    init(_ items: [(name: String, value: String)], of view: UseCaseView) {
        let items = items.filter { !$0.value.isEmpty }
        self.view = view
        own = items.filter { view.parameters.contains($0.name) }
        conditions = items.filter { !view.parameters.contains($0.name) }
    }

    private subscript(name: String) -> String? { own.last { $0.name == name }?.value }

    var steps: [TransactionPoint] { own.filter { $0.name == "step" }.map { TransactionPoint($0.value) } }

    /// Returns the questions of a page, without conditions; empty if a choice is missing. `step` and `now` are in
    /// microseconds.
    func questions(
        usualSteps: [TransactionPoint], seen: SeenValues, step: Int64?, now: Int64, redactor: Redactor
    ) throws(QueryFailure) -> [AnyQuestion] {
        let none = TransactionFilter()
        switch view {
        case .overview:
            return [
                .summary(SummaryQuestion(step: .microseconds(step ?? Self.hour))),
                .duration(DurationQuestion(filter: none)),
            ]
        case .duration:
            let (from, to, occurrence) = try points()
            return [.duration(DurationQuestion(filter: none, from: from, to: to, occurrence: occurrence))]
        case .funnel:
            let steps = steps.isEmpty ? usualSteps : steps
            guard steps.count <= FunnelQuestion.stepLimit else {
                throw .parameter("step", "A funnel has at most \(FunnelQuestion.stepLimit) steps.")
            }
            return [
                .funnel(FunnelQuestion(filter: none, steps: steps, window: try window(), isStrict: try flag("strict")))
            ]
        case .dropOff: return [.dropOff(DropOffQuestion(filter: none))]
        case .legs: return [.legs(LegsQuestion(filter: none))]
        case .compare:
            guard let groups = try groups(seen: seen, now: now, redactor) else { return [] }
            let (from, to, occurrence) = try points()
            return [.compare(CompareQuestion(filter: none, groups: groups, from: from, to: to, occurrence: occurrence))]
        }
    }

    /// Pages combine longer steps to days.
    static let hour: Int64 = 3_600_000_000

    private func points() throws(QueryFailure) -> (TransactionPoint, TransactionPoint, DurationQuestion.Occurrence) {
        (TransactionPoint(self["from"] ?? "^"), TransactionPoint(self["to"] ?? "$"), try flag("last") ? .last : .first)
    }

    private func flag(_ name: String) throws(QueryFailure) -> Bool {
        guard let value = self[name] else { return false }
        guard value == "yes" else {
            throw .parameter(name, "“\(value)” is no value of “\(name)”: give yes, or leave it out.")
        }
        return true
    }

    private func window() throws(QueryFailure) -> Duration? {
        guard let within = self["within"] else { return nil }
        guard let length = TimeExpression.length(within), length > 0 else {
            throw .parameter("within", "“\(within)” is no length of time: give 30s, 10m, 1h or 7d.")
        }
        return .microseconds(length)
    }

    private func groups(seen: SeenValues, now: Int64, _ redactor: Redactor) throws(QueryFailure) -> CompareQuestion
        .Groups?
    {
        let (a, b) = (self["a"], self["b"])
        if let by = self["by"] {
            let segmentation = Segmentation(by)
            if case .attribute(let name) = segmentation, redactor.isSensitive(name) {
                throw .parameter(
                    "by", "Values under the name of a secret are not shown, so nothing can be told apart by “\(name)”.")
            }
            guard a == nil, b == nil else { return .values(of: segmentation, a, b) }
            let usual = seen.values(of: segmentation).prefix(2).sorted()
            return usual.count == 2 ? .values(of: segmentation, usual[0], usual[1]) : nil
        }
        guard let a, let b else {
            guard a != nil || b != nil else { return nil }
            throw .parameter(
                a == nil ? "a" : "b",
                "Two stretches of time are compared, and one is missing: give A and B, as 48h..24h and 24h..0h.")
        }
        return .windows(try stretch(a, "a", now: now), try stretch(b, "b", now: now))
    }

    private func stretch(_ text: String, _ name: String, now: Int64) throws(QueryFailure) -> Range<Date> {
        guard let window = TimeExpression.window(text, now: now) else {
            throw .parameter(
                name,
                "“\(text)” is no stretch of time, as 48h..24h; or say by what the groups differ that have this value.")
        }
        return Range(microseconds: window)
    }
}
