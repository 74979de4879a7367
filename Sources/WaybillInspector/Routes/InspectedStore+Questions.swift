import Foundation
import WaybillCore
import WaybillExport
import WaybillQueries

extension InspectedStore {
    func conditions(of view: UseCaseView, _ useCase: UseCaseReference) -> [(name: String, value: String)] {
        let usual = view == .why && !address.chooses ? [UseCaseView.failed] : []
        return address.items(besides: view.parameters + ["use_case"]) + usual + [("use_case", "\(useCase.code)")]
    }

    /// Returns the questions of a page, without conditions; empty if a choice is missing.
    ///
    /// - Parameter request: The transactions that the questions are about.
    func questions(
        of view: UseCaseView, about request: ListRequest, _ seen: SeenValues
    ) async throws -> [AnyQuestion] {
        let none = TransactionFilter()
        switch view {
        case .overview:
            let times = try await times(request)
            return [
                .summary(SummaryQuestion(step: .microseconds(TimeSteps.step(for: times)))),
                .duration(Self.trend(DurationQuestion(filter: none, segmentation: .appVersion), times)),
            ]
        case .duration:
            let (from, to, occurrence) = try points()
            let by = try segmentation() ?? .appVersion
            var question = DurationQuestion(
                filter: none, from: from, to: to, occurrence: occurrence, segmentation: by)
            question.isCertified = try isCertified()
            return [.duration(Self.trend(question, try await times(request)))]
        case .funnel:
            var steps = address.items.filter { $0.name == "step" }.map { TransactionPoint($0.value) }
            if steps.isEmpty { steps = try await usualSteps(request) }
            guard steps.count <= FunnelQuestion.stepLimit else {
                throw QueryFailure.parameter("step", "A funnel has at most \(FunnelQuestion.stepLimit) steps.")
            }
            var question = FunnelQuestion(
                filter: none, steps: steps, window: try window(), isStrict: try flag("strict"))
            question.isCertified = try isCertified()
            return [.funnel(question)]
        case .dropOff: return [.dropOff(DropOffQuestion(filter: none))]
        case .legs: return [.legs(LegsQuestion(filter: none))]
        case .why: return [.why(WhyQuestion(filter: none))]
        case .compare:
            guard let groups = try groups(seen) else { return [] }
            let (from, to, occurrence) = try points()
            var question = CompareQuestion(
                filter: none, groups: groups, from: from, to: to, occurrence: occurrence)
            question.isCertified = try isCertified()
            return [.compare(question)]
        }
    }

    private static func trend(_ question: DurationQuestion, _ times: ClosedRange<Int64>?) -> DurationQuestion {
        var question = question
        question.stepMicroseconds = TimeSteps.step(for: times, within: TimeSteps.lengthsOfPercentiles)
        return question
    }

    private func points() throws(QueryFailure) -> (TransactionPoint, TransactionPoint, DurationQuestion.Occurrence) {
        (
            TransactionPoint(address["from"] ?? "^"), TransactionPoint(address["to"] ?? "$"),
            try flag("last") ? .last : .first
        )
    }

    private func flag(_ name: String) throws(QueryFailure) -> Bool {
        guard let value = address[name] else { return false }
        guard value == "yes" else {
            throw .parameter(name, "“\(value)” is no value of “\(name)”: give yes, or leave it out.")
        }
        return true
    }

    private func isCertified() throws(QueryFailure) -> Bool? { try flag("certify") ? true : nil }

    private func window() throws(QueryFailure) -> Duration? {
        guard let within = address["within"] else { return nil }
        guard let length = TimeExpression.length(within), length > 0 else {
            throw .parameter("within", "“\(within)” is no length of time: give 30s, 10m, 1h or 7d.")
        }
        return .microseconds(length)
    }

    private func groups(_ seen: SeenValues) throws(QueryFailure) -> CompareQuestion.Groups? {
        let (a, b) = (address["a"], address["b"])
        if let segmentation = try segmentation() {
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
        let now = clock.wallMicroseconds()
        return .windows(try stretch(a, "a", now: now), try stretch(b, "b", now: now))
    }

    private func segmentation() throws(QueryFailure) -> Segmentation? {
        guard let segmentation = address["by"].map({ Segmentation($0) }) else { return nil }
        if case .attribute(let name) = segmentation, redactor.isSensitive(name) {
            throw .parameter(
                "by", "Values under the name of a secret are not shown, so nothing can be told apart by “\(name)”.")
        }
        return segmentation
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
