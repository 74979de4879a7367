package import WaybillAnalysis
package import WaybillCore

/// Redacts the names and values in an answer once more, before they are shown.
extension Redactor {
    /// Every string of an answer; of the question about the network, which no page asks, it leaves them as they are.
    package func answer(_ answer: AnyAnswer) -> AnyAnswer {
        switch answer {
        case .summary(let question, var answer):
            answer.whyEmpty = answer.whyEmpty.map(text)
            for index in answer.useCases.indices {
                answer.useCases[index].name = text(answer.useCases[index].name)
                for error in answer.useCases[index].errors.indices {
                    answer.useCases[index].errors[error].domain = text(answer.useCases[index].errors[error].domain)
                }
            }
            return .summary(question, answer)
        case .duration(let question, var answer):
            answer.whyEmpty = answer.whyEmpty.map(text)
            for index in answer.segments.indices { answer.segments[index].value = answer.segments[index].value.map(text) }
            return .duration(question, answer)
        case .transitions(let question, var answer):
            answer.whyEmpty = answer.whyEmpty.map(text)
            answer.transitions = answer.transitions.map { .init(from: text($0.from), to: text($0.to), statistics: $0.statistics) }
            return .transitions(question, answer)
        case .funnel(let question, var answer):
            answer.whyEmpty = answer.whyEmpty.map(text)
            answer.total = segment(answer.total)
            answer.segments = answer.segments.map(segment)
            return .funnel(question, answer)
        case .dropOff(let question, var answer):
            answer.whyEmpty = answer.whyEmpty.map(text)
            for index in answer.lastEvents.indices { answer.lastEvents[index].event = answer.lastEvents[index].event.map(text) }
            return .dropOff(question, answer)
        case .legs(let question, var answer):
            answer.whyEmpty = answer.whyEmpty.map(text)
            for index in answer.segments.indices { answer.segments[index].value = answer.segments[index].value.map(text) }
            return .legs(question, answer)
        case .network: return answer
        case .compare(let question, var answer):
            answer.whyEmpty = answer.whyEmpty.map(text)
            answer.a.value = answer.a.value.map(text)
            answer.b.value = answer.b.value.map(text)
            for index in answer.rates.indices { answer.rates[index].sentence = text(answer.rates[index].sentence) }
            for index in answer.quantiles.indices { answer.quantiles[index].sentence = text(answer.quantiles[index].sentence) }
            return .compare(question, answer)
        }
    }

    private func segment(_ segment: FunnelSegment) -> FunnelSegment {
        var segment = segment
        segment.value = segment.value.map(text)
        for index in segment.steps.indices {
            if case .event(let name) = segment.steps[index].point { segment.steps[index].point = .event(text(name)) }
        }
        return segment
    }
}
