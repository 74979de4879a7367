import WaybillCore

extension RateComparison {
    /// `“B” failed more often than “A”: 12.0 % against 8.0 %, a difference of
    /// +4.0 points (95 % interval +1.2 to +6.8). That is more than noise.`
    func inWords(_ a: CompareAnswer.Group, _ b: CompareAnswer.Group) -> String {
        guard let aRate = self.a.value, let bRate = self.b.value, let value = difference.value else {
            let empty = a.ended == 0 ? a.name : b.name
            return "No transaction of \(empty) is over, so nothing can be said about how often it \(measure.verb)."
        }
        let difference =
            "a difference of \(value.pointsText) points (95 % interval \(difference.inWords { $0.pointsText }))"
        return switch verdict {
        case .higher, .lower:
            "\(b.name) \(measure.verb) \(verdict == .higher ? "more" : "less") often than \(a.name): \(bRate.percentText) against "
                + "\(aRate.percentText), \(difference). That is more than noise."
        case .noise, .tooFew:
            "\(b.name) \(measure.verb) in \(bRate.percentText) and \(a.name) in \(aRate.percentText), \(difference). That may be noise."
        }
    }
}

extension QuantileComparison {
    /// `The p90 of “B” is longer than that of “A”: 1.20 s against 900.0 ms,
    /// a difference of +300.0 ms (95 % interval ...). That is more than noise.`
    func inWords(_ a: CompareAnswer.Group, _ b: CompareAnswer.Group) -> String {
        guard let aTime = aMicroseconds.value, let bTime = bMicroseconds.value, let value = differenceMicroseconds.value
        else {
            return
                "There is no duration of \(a.statistics.count == 0 ? a.name : b.name), so nothing can be said about the p\(percent)."
        }
        let both = "The p\(percent) is \(bTime.durationText) for \(b.name) and \(aTime.durationText) for \(a.name)"
        let interval = differenceMicroseconds.inWords { $0.differenceText }
        let difference = "a difference of \(value.differenceText) (95 % interval \(interval))"
        return switch verdict {
        case .higher, .lower:
            "The p\(percent) of \(b.name) is \(verdict == .higher ? "longer" : "shorter") than that of \(a.name): \(bTime.durationText) "
                + "against \(aTime.durationText), \(difference). That is more than noise."
        case .noise: "\(both), \(difference). That may be noise."
        case .tooFew:
            "\(both). With \(b.statistics.count) and \(a.statistics.count) durations there are too few to say whether that is more than noise."
        }
    }
}

extension CompareAnswer.Group {
    fileprivate var name: String { value.map { "“\($0)”" } ?? "the rest without a value" }
}

extension RateComparison.Measure {
    fileprivate var verb: String {
        switch self {
        case .succeeded, .failed: rawValue
        case .abandoned: "was abandoned"
        }
    }
}

extension Estimate {
    fileprivate func inWords(_ text: (Value) -> String) -> String {
        switch (low, high) {
        case (let low?, let high?): "\(text(low)) to \(text(high))"
        case (let low?, nil): "\(text(low)) or more"
        case (nil, let high?): "\(text(high)) or less"
        case (nil, nil): "unknown"
        }
    }
}

extension Int64 {
    /// `+1.20 s` for 1,200,000, `-850 µs`: microseconds more or less.
    package var differenceText: String { (self < 0 ? "" : "+") + durationText }
}

extension Double {
    /// Rounded, and no more than a billion times the whole: the numbers may come from anywhere.
    private var tenthsOfPercent: Int64 { isNaN ? 0 : Int64((Swift.min(Swift.max(self, -1e9), 1e9) * 1000).rounded()) }

    /// `12.0 %` for 0.12.
    fileprivate var percentText: String { "\(tenthsOfPercent.decimalText(per: 10, digits: 1)) %" }

    /// `-1.2` for -0.012, always with a sign: percentage points.
    package var pointsText: String {
        let tenths = tenthsOfPercent
        return (tenths < 0 ? "-" : "+") + abs(tenths).decimalText(per: 10, digits: 1)
    }
}
