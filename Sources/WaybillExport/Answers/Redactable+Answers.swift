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
            // Steps that were not chosen are names that were recorded.
            question.steps = question.steps.redacted(by: redactor)
            return .funnel(question, answer.redacted(by: redactor))
        case .dropOff(let question, let answer): return .dropOff(question, answer.redacted(by: redactor))
        case .legs(let question, let answer): return .legs(question, answer.redacted(by: redactor))
        case .network(let question, let answer): return .network(question, answer.redacted(by: redactor))
        case .compare(let question, let answer): return .compare(question, answer.redacted(by: redactor))
        }
    }
}

extension SummaryAnswer: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var answer = self
        answer.whyEmpty = whyEmpty.redacted(by: redactor)
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
        var segment = self
        segment.value = value.redacted(by: redactor)
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
        var answer = Self(
            total: total.redacted(by: redactor), segments: segments.redacted(by: redactor),
            whyEmpty: whyEmpty.redacted(by: redactor))
        answer.weighed = weighed
        return answer
    }
}

extension DurationSegment: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var segment = self
        segment.value = value.redacted(by: redactor)
        return segment
    }
}

extension MeasureSegment: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var segment = self
        segment.value = value.redacted(by: redactor)
        return segment
    }
}

extension LegsSegment: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var segment = self
        segment.value = value.redacted(by: redactor)
        return segment
    }
}

extension TransitionsAnswer: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var answer = self
        answer.whyEmpty = whyEmpty.redacted(by: redactor)
        for index in transitions.indices {
            answer.transitions[index].from = redactor.text(transitions[index].from)
            answer.transitions[index].to = redactor.text(transitions[index].to)
        }
        return answer
    }
}

extension DropOffAnswer: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var answer = self
        answer.whyEmpty = whyEmpty.redacted(by: redactor)
        for index in lastEvents.indices {
            answer.lastEvents[index].event = lastEvents[index].event.redacted(by: redactor)
        }
        return answer
    }
}

extension NetworkAnswer: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var answer = self
        answer.whyEmpty = whyEmpty.redacted(by: redactor)
        answer.groups = groups.redacted(by: redactor)
        return answer
    }
}

extension CompareAnswer: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var answer = self
        answer.whyEmpty = whyEmpty.redacted(by: redactor)
        answer.a.value = a.value.redacted(by: redactor)
        answer.b.value = b.value.redacted(by: redactor)
        for index in rates.indices { answer.rates[index].sentence = redactor.text(rates[index].sentence) }
        for index in quantiles.indices { answer.quantiles[index].sentence = redactor.text(quantiles[index].sentence) }
        return answer
    }
}

/// What only answers say.
extension Words {
    /// `12.5 %`; `-` of nothing.
    package static func percent<Number: BinaryInteger>(_ count: Number, of total: Number) -> String {
        guard total > 0 else { return "-" }
        let tenths = (Double(count) * 1000 / Double(total)).wholeNumber
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// `the beginning`, `the outcome`, or the event's name.
    package static func point(_ point: TransactionPoint) -> String {
        switch point {
        case .begun: "the beginning"
        case .finished: "the outcome"
        case .event(let name): name
        }
    }

    /// `-12.5 %` for -0.125.
    package static func percent(_ rate: Double) -> String {
        let tenths = (rate.magnitude * 1000).wholeNumber
        return "\(rate < 0 && tenths > 0 ? "-" : "")\(tenths / 10).\(tenths % 10) %"
    }

    /// `client, before`.
    package static func leg(_ leg: Leg) -> String {
        switch leg {
        case .clientBefore: "client, before"
        case .request: "request"
        case .server: "server"
        case .response: "response"
        case .network: "network, either way"
        case .exchange: "network and server"
        case .clientBetween: "client, between"
        case .clientAfter: "client, after"
        }
    }

    /// What a table of legs does not show, a sentence each.
    package static func remarks(_ total: LegsSegment) -> [String] {
        var remarks: [String] = []
        if total.withoutSplit > 0 {
            remarks.append(
                "Of \(total.withoutSplit) too little is known of the clocks to tell request and response apart.")
        }
        if total.withoutServer > 0 { remarks.append("Of \(total.withoutServer) no server told its part of a request.") }
        let left = [(total.withoutEnd, "not closed"), (total.withoutExchange, "closed without a request")].filter {
            $0.0 > 0
        }
        if !left.isEmpty { remarks.append("Left out: \(left.map { "\($0.0) \($0.1)" }.joined(separator: ", ")).") }
        if let off = total.uncertainty.p90Microseconds {
            remarks.append(
                "The borders of request, server and response may be off by \(duration(off)), of nine in ten.")
        }
        return remarks
    }
}

extension Double {
    /// Rounded, and at most 10^12: the numbers may come from anywhere.
    fileprivate var wholeNumber: Int { isNaN ? 0 : Int(Swift.min(Swift.max(self, 0), 1e12).rounded()) }
}
