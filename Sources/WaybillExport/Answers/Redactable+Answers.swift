package import WaybillCore
package import WaybillQueries

extension AnyAnswer: Redactable {
    package mutating func redact(by redactor: Redactor) {
        switch self {
        case .summary(let question, let answer): self = .summary(question, answer.redacted(by: redactor))
        case .duration(let question, let answer): self = .duration(question, answer.redacted(by: redactor))
        case .measure(let question, let answer): self = .measure(question, answer.redacted(by: redactor))
        case .transitions(let question, let answer): self = .transitions(question, answer.redacted(by: redactor))
        case .funnel(var question, let answer):
            // The default steps are recorded names.
            question.steps.redact(by: redactor)
            self = .funnel(question, answer.redacted(by: redactor))
        case .dropOff(let question, let answer): self = .dropOff(question, answer.redacted(by: redactor))
        case .legs(let question, let answer): self = .legs(question, answer.redacted(by: redactor))
        case .network(let question, let answer): self = .network(question, answer.redacted(by: redactor))
        case .compare(let question, let answer): self = .compare(question, answer.redacted(by: redactor))
        case .errors(let question, let answer): self = .errors(question, answer.redacted(by: redactor))
        case .why(let question, let answer): self = .why(question, answer.redacted(by: redactor))
        }
    }
}

extension AnswerBounds: Redactable {
    package mutating func redact(by redactor: Redactor) {
        for index in rows.indices {
            rows[index].subject.redact(by: redactor)
            rows[index].measure.redact(by: redactor)
        }
    }
}

extension SummaryAnswer: Redactable {
    package mutating func redact(by redactor: Redactor) {
        whyEmpty.redact(by: redactor)
        bounds.redact(by: redactor)
        for index in useCases.indices {
            useCases[index].name.redact(by: redactor)
            useCases[index].errors.redact(by: redactor)
        }
    }
}

extension UseCaseSummary.ErrorCount: Redactable {
    package mutating func redact(by redactor: Redactor) {
        domain.redact(by: redactor)
        name.redact(by: redactor)
    }
}

extension FunnelSegment: Redactable {
    package mutating func redact(by redactor: Redactor) {
        value.redact(by: redactor)
        for index in steps.indices { steps[index].point.redact(by: redactor) }
    }
}

extension TransactionPoint: Redactable {
    package mutating func redact(by redactor: Redactor) {
        switch self {
        case .event(let name): self = .event(redactor.text(name))
        case .begun, .finished: break
        }
    }
}

extension NetworkGroup: Redactable {
    package mutating func redact(by redactor: Redactor) {
        host.redact(by: redactor)
        path = path.map(redactor.path)
        method.redact(by: redactor)
        errors.redact(by: redactor)
        for index in slowest.indices { slowest[index].error.redact(by: redactor) }
        for index in failing.indices { failing[index].error.redact(by: redactor) }
    }
}

extension SegmentedAnswer: Redactable where Segment: Redactable {
    package mutating func redact(by redactor: Redactor) {
        whyEmpty.redact(by: redactor)
        total.redact(by: redactor)
        segments.redact(by: redactor)
        bounds.redact(by: redactor)
    }
}

extension DurationSegment: Redactable {
    package mutating func redact(by redactor: Redactor) { value.redact(by: redactor) }
}

extension MeasureSegment: Redactable {
    package mutating func redact(by redactor: Redactor) { value.redact(by: redactor) }
}

extension LegsSegment: Redactable {
    package mutating func redact(by redactor: Redactor) { value.redact(by: redactor) }
}

extension TransitionsAnswer: Redactable {
    package mutating func redact(by redactor: Redactor) {
        whyEmpty.redact(by: redactor)
        for index in transitions.indices {
            transitions[index].from.redact(by: redactor)
            transitions[index].to.redact(by: redactor)
        }
    }
}

extension DropOffAnswer: Redactable {
    package mutating func redact(by redactor: Redactor) {
        whyEmpty.redact(by: redactor)
        for index in lastEvents.indices { lastEvents[index].event.redact(by: redactor) }
    }
}

extension NetworkAnswer: Redactable {
    package mutating func redact(by redactor: Redactor) {
        whyEmpty.redact(by: redactor)
        groups.redact(by: redactor)
        other.redact(by: redactor)
    }
}

extension CompareAnswer: Redactable {
    package mutating func redact(by redactor: Redactor) {
        whyEmpty.redact(by: redactor)
        a.value.redact(by: redactor)
        b.value.redact(by: redactor)
        bounds.redact(by: redactor)
        for index in rates.indices { rates[index].sentence.redact(by: redactor) }
        for index in quantiles.indices { quantiles[index].sentence.redact(by: redactor) }
    }
}

extension ErrorsAnswer: Redactable {
    package mutating func redact(by redactor: Redactor) {
        whyEmpty.redact(by: redactor)
        errors.redact(by: redactor)
    }
}

extension ErrorsAnswer.Entry: Redactable {
    package mutating func redact(by redactor: Redactor) {
        error.redact(by: redactor)
        versions.redact(by: redactor)
        for index in useCases.indices { useCases[index].name.redact(by: redactor) }
    }
}

extension WhyAnswer: Redactable {
    /// Leaves out attributes with sensitive names.
    package mutating func redact(by redactor: Redactor) {
        whyEmpty.redact(by: redactor)
        differences.removeAll { $0.trait.name.map(redactor.isSensitive) == true }
        for index in differences.indices {
            differences[index].trait.name.redact(by: redactor)
            differences[index].trait.value.redact(by: redactor)
            differences[index].sentence.redact(by: redactor)
        }
    }
}
