package import WaybillAnalysis
package import WaybillCore

extension AnyAnswer: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        switch self {
        case .summary(let question, let answer): .summary(question, answer.redacted(by: redactor))
        case .duration(let question, var answer):
            .duration(
                question,
                changed(&answer) { answer in
                    answer.whyEmpty = answer.whyEmpty.redacted(by: redactor)
                    for index in answer.segments.indices {
                        answer.segments[index].value = answer.segments[index].value.redacted(by: redactor)
                    }
                })
        case .transitions(let question, var answer):
            .transitions(
                question,
                changed(&answer) { answer in
                    answer.whyEmpty = answer.whyEmpty.redacted(by: redactor)
                    answer.transitions = answer.transitions.map {
                        .init(from: redactor.text($0.from), to: redactor.text($0.to), statistics: $0.statistics)
                    }
                })
        case .funnel(let question, var answer):
            .funnel(
                question,
                changed(&answer) { answer in
                    answer.whyEmpty = answer.whyEmpty.redacted(by: redactor)
                    answer.total = answer.total.redacted(by: redactor)
                    answer.segments = answer.segments.redacted(by: redactor)
                })
        case .dropOff(let question, var answer):
            .dropOff(
                question,
                changed(&answer) { answer in
                    answer.whyEmpty = answer.whyEmpty.redacted(by: redactor)
                    for index in answer.lastEvents.indices {
                        answer.lastEvents[index].event = answer.lastEvents[index].event.redacted(by: redactor)
                    }
                })
        case .legs(let question, var answer):
            .legs(
                question,
                changed(&answer) { answer in
                    answer.whyEmpty = answer.whyEmpty.redacted(by: redactor)
                    for index in answer.segments.indices {
                        answer.segments[index].value = answer.segments[index].value.redacted(by: redactor)
                    }
                })
        case .network(let question, var answer):
            .network(
                question,
                changed(&answer) { answer in
                    answer.whyEmpty = answer.whyEmpty.redacted(by: redactor)
                    answer.groups = answer.groups.redacted(by: redactor)
                })
        case .compare(let question, var answer):
            .compare(
                question,
                changed(&answer) { answer in
                    answer.whyEmpty = answer.whyEmpty.redacted(by: redactor)
                    answer.a.value = answer.a.value.redacted(by: redactor)
                    answer.b.value = answer.b.value.redacted(by: redactor)
                    for index in answer.rates.indices { answer.rates[index].sentence = redactor.text(answer.rates[index].sentence) }
                    for index in answer.quantiles.indices {
                        answer.quantiles[index].sentence = redactor.text(answer.quantiles[index].sentence)
                    }
                })
        }
    }

    private func changed<Answer>(_ answer: inout Answer, _ change: (inout Answer) -> Void) -> Answer {
        change(&answer)
        return answer
    }
}

extension SummaryAnswer: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var answer = self
        answer.whyEmpty = whyEmpty.redacted(by: redactor)
        for index in answer.useCases.indices {
            answer.useCases[index].name = redactor.text(useCases[index].name)
            for error in answer.useCases[index].errors.indices {
                answer.useCases[index].errors[error].domain = redactor.text(useCases[index].errors[error].domain)
            }
        }
        return answer
    }
}

extension FunnelSegment: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var segment = self
        segment.value = value.redacted(by: redactor)
        for index in segment.steps.indices {
            if case .event(let name) = steps[index].point { segment.steps[index].point = .event(redactor.text(name)) }
        }
        return segment
    }
}

extension NetworkGroup: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var group = self
        group.host = host.redacted(by: redactor)
        group.path = path.map(redactor.path)
        group.method = method.redacted(by: redactor)
        for index in group.errors.indices { group.errors[index].domain = redactor.text(errors[index].domain) }
        for index in group.slowest.indices { group.slowest[index].error = slowest[index].error.map(redactor.error) }
        for index in group.failing.indices { group.failing[index].error = failing[index].error.map(redactor.error) }
        return group
    }
}
