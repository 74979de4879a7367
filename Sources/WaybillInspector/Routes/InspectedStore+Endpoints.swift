import WaybillCore
import WaybillExport
import WaybillQueries

extension InspectedStore {
    func endpointsPage() async throws -> InspectorResponse {
        var question = NetworkQuestion(grouping: .method, limit: EndpointsPage.rowLimit, exampleCount: 0)
        let conditions = address.items(besides: EndpointsPage.parameters)
        let (found, frame) = try await answering {
            question.sort = try Self.sort(address)
            return try await answered(question, conditions)
        }
        let answer = found ?? NetworkAnswer(exchanges: 0, groups: [])
        let volume = answer.groups.isEmpty ? nil : try await volume(conditions, of: .exchanges)
        return .page(
            EndpointsPage(
                answer: redactor.redacted(answer), question: question, volume: volume,
                frame: frame
            ).html, status: frame.status)
    }

    func endpointsFile() async throws -> InspectorResponse {
        let question = NetworkQuestion(grouping: .method, sort: try Self.sort(address), exampleCount: 0)
        let answer = try await answered(question, address.items(besides: EndpointsPage.parameters))
        return .csv(redactor.redacted(AnyAnswer.network(question, answer)).csv, name: "endpoints")
    }

    func endpointPage() async throws -> InspectorResponse {
        var question = NetworkQuestion(grouping: .method, exampleCount: EndpointPage.exampleCount)
        question.group = try NetworkKey(address)
        let conditions = address.items(besides: NetworkKey.parameters)
        let (found, frame) = try await answering {
            let request = try ListRequest(conditions: conditions, about: .exchanges)
            let volume = try await store.volume(request, of: .exchanges, within: .seconds(1)) { _ in [] }
            question.stepMicroseconds = TimeSteps.step(for: volume?.times, within: TimeSteps.lengthsOfPercentiles)
            return try await answered(question, conditions)
        }
        let answer = found ?? NetworkAnswer(exchanges: 0, groups: [])
        return .page(
            EndpointPage(answer: redactor.redacted(answer), question: question, frame: frame).html,
            status: frame.status)
    }

    private func answered(
        _ question: NetworkQuestion, _ conditions: [(name: String, value: String)]
    ) async throws -> NetworkAnswer {
        guard case .network(_, let answer) = try await store.answer(.network(question), where: conditions) else {
            return NetworkAnswer(exchanges: 0, groups: [])
        }
        return answer
    }

    private static func sort(_ address: ListAddress) throws(QueryFailure) -> NetworkQuestion.Sort {
        guard let word = address["sort"] else { return .count }
        guard let sort = NetworkQuestion.Sort(rawValue: word) else {
            let words = NetworkQuestion.Sort.allCases.map(\.rawValue).joined(separator: ", ")
            throw .parameter("sort", "“\(word)” is no column to sort by. They are: \(words).")
        }
        return sort
    }
}
