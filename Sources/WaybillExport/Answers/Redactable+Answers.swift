package import WaybillCore
package import WaybillQueries

extension AnyAnswer: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        switch self {
        case .summary(let question, let answer): return .summary(question, answer.redacted(by: redactor))
        case .duration(let question, let answer): return .duration(question, answer.redacted(by: redactor))
        case .measure(let question, let answer): return .measure(question, answer.redacted(by: redactor))
        case .transitions(let question, let answer): return .transitions(question, answer.redacted(by: redactor))
        case .funnel(var question, let answer):
            // The default steps are recorded names.
            question.steps = question.steps.redacted(by: redactor)
            return .funnel(question, answer.redacted(by: redactor))
        case .dropOff(let question, let answer): return .dropOff(question, answer.redacted(by: redactor))
        case .legs(let question, let answer): return .legs(question, answer.redacted(by: redactor))
        case .network(let question, let answer): return .network(question, answer.redacted(by: redactor))
        case .compare(let question, let answer): return .compare(question, answer.redacted(by: redactor))
        case .errors(let question, let answer): return .errors(question, answer.redacted(by: redactor))
        case .why(let question, let answer): return .why(question, answer.redacted(by: redactor))
        }
    }
}

extension Redactable {
    fileprivate func redacting(_ member: WritableKeyPath<Self, String?>, by redactor: Redactor) -> Self {
        var copy = self
        copy[keyPath: member] = self[keyPath: member].redacted(by: redactor)
        return copy
    }
}

extension AnswerBounds: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var bounds = self
        for index in rows.indices {
            bounds.rows[index].subject = redactor.text(rows[index].subject)
            bounds.rows[index].measure = redactor.text(rows[index].measure)
        }
        return bounds
    }
}

extension SummaryAnswer: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var answer = redacting(\.whyEmpty, by: redactor)
        answer.bounds = bounds?.redacted(by: redactor)
        for index in answer.useCases.indices {
            answer.useCases[index].name = redactor.text(useCases[index].name)
            answer.useCases[index].errors = useCases[index].errors.redacted(by: redactor)
        }
        return answer
    }
}

extension UseCaseSummary.ErrorCount: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var count = self
        count.domain = redactor.text(domain)
        count.name = name.redacted(by: redactor)
        return count
    }
}

extension FunnelSegment: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var segment = redacting(\.value, by: redactor)
        for index in segment.steps.indices { segment.steps[index].point = steps[index].point.redacted(by: redactor) }
        return segment
    }
}

extension TransactionPoint: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        switch self {
        case .event(let name): .event(redactor.text(name))
        case .begun, .finished: self
        }
    }
}

extension NetworkGroup: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var group = self
        group.host = host.redacted(by: redactor)
        group.path = path.map(redactor.path)
        group.method = method.redacted(by: redactor)
        group.errors = errors.redacted(by: redactor)
        for index in group.slowest.indices { group.slowest[index].error = slowest[index].error.map(redactor.error) }
        for index in group.failing.indices { group.failing[index].error = failing[index].error.map(redactor.error) }
        return group
    }
}

extension SegmentedAnswer: Redactable where Segment: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var answer = redacting(\.whyEmpty, by: redactor)
        (answer.total, answer.segments) = (total.redacted(by: redactor), segments.redacted(by: redactor))
        answer.bounds = bounds?.redacted(by: redactor)
        return answer
    }
}

extension DurationSegment: Redactable {
    package func redacted(by redactor: Redactor) -> Self { redacting(\.value, by: redactor) }
}

extension MeasureSegment: Redactable {
    package func redacted(by redactor: Redactor) -> Self { redacting(\.value, by: redactor) }
}

extension LegsSegment: Redactable {
    package func redacted(by redactor: Redactor) -> Self { redacting(\.value, by: redactor) }
}

extension TransitionsAnswer: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var answer = redacting(\.whyEmpty, by: redactor)
        for index in transitions.indices {
            answer.transitions[index].from = redactor.text(transitions[index].from)
            answer.transitions[index].to = redactor.text(transitions[index].to)
        }
        return answer
    }
}

extension DropOffAnswer: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var answer = redacting(\.whyEmpty, by: redactor)
        for index in lastEvents.indices {
            answer.lastEvents[index].event = lastEvents[index].event.redacted(by: redactor)
        }
        return answer
    }
}

extension NetworkAnswer: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var answer = redacting(\.whyEmpty, by: redactor)
        (answer.groups, answer.other) = (groups.redacted(by: redactor), other.redacted(by: redactor))
        return answer
    }
}

extension CompareAnswer: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var answer = redacting(\.whyEmpty, by: redactor)
        answer.a.value = a.value.redacted(by: redactor)
        answer.b.value = b.value.redacted(by: redactor)
        answer.bounds = bounds?.redacted(by: redactor)
        for index in rates.indices { answer.rates[index].sentence = redactor.text(rates[index].sentence) }
        for index in quantiles.indices { answer.quantiles[index].sentence = redactor.text(quantiles[index].sentence) }
        return answer
    }
}

extension ErrorsAnswer: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var answer = redacting(\.whyEmpty, by: redactor)
        answer.errors = errors.redacted(by: redactor)
        return answer
    }
}

extension ErrorsAnswer.Entry: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var entry = self
        entry.error = redactor.error(error)
        entry.versions = versions.map(redactor.text)
        for index in useCases.indices { entry.useCases[index].name = redactor.text(useCases[index].name) }
        return entry
    }
}

extension WhyAnswer: Redactable {
    /// Leaves out attributes with sensitive names.
    package func redacted(by redactor: Redactor) -> Self {
        var answer = redacting(\.whyEmpty, by: redactor)
        answer.differences = differences.filter { $0.trait.name.map(redactor.isSensitive) != true }
        for index in answer.differences.indices {
            let found = answer.differences[index]
            answer.differences[index].trait.name = found.trait.name.redacted(by: redactor)
            answer.differences[index].trait.value = redactor.text(found.trait.value)
            answer.differences[index].sentence = redactor.text(found.sentence)
        }
        return answer
    }
}
