import WaybillCore
import WaybillQueries

/// Gathers the traits of each transaction from its facts. The library computes the shares from these numbers.
extension NaiveAnswers {
    func answer(_ query: WhyQuestion) throws(WaybillError) -> WhyAnswer {
        guard query.filter.useCase != nil else { throw WaybillError(.setting, "The others are those of a use case.") }
        let asked = passing(query.allFilter)
        let chosen = Set(passing(query.filter).map(\.leader.id))
        var traits = CollectedTraits()
        for run in asked {
            let isChosen = chosen.contains(run.leader.id)
            if isChosen || run.outcome != .open {
                traits.add(self.traits(of: run), isChosen: isChosen, weight: run.weight)
            }
        }
        var answer = traits.answer(limit: query.limit)
        answer.weighed = weighing(asked.map(\.weight))
        return answer
    }

    private func traits(of run: Run) -> Set<WhyAnswer.Trait> {
        let source = histories[run.leader.source].source
        var traits = [
            WhyAnswer.Trait(.app, value: source.app), WhyAnswer.Trait(.version, value: source.appVersion),
            WhyAnswer.Trait(.device, value: source.device), WhyAnswer.Trait(.os, value: source.os),
            WhyAnswer.Trait(.osVersion, value: source.osVersion),
        ].filter { !$0.value.isEmpty }
        traits += inOrder(run).map { WhyAnswer.Trait(.event, value: $0.name) }
        let names = run.parts.flatMap { part in
            histories[part.source].source.attributes.keys
                + part.facts.flatMap { attributes(of: $0)?.keys.map(\.self) ?? [] }
        }
        for name in Set(names) {
            if let value = latest(name, in: run) {
                traits.append(WhyAnswer.Trait(.attribute, name: name, value: value.description))
            }
        }
        for exchange in exchanges(of: run) {
            let opened = exchange.opened
            let endpoint = "\(opened.method) \(opened.host ?? "")\(PathTemplate(opened.path))"
            traits.append(WhyAnswer.Trait(.request, value: endpoint))
            if let closed = exchange.closing?.closed, closed.state == .failed || closed.status ?? 0 >= 400 {
                traits.append(WhyAnswer.Trait(.failedRequest, value: endpoint))
            }
        }
        return Set(traits)
    }
}
