import WaybillCore

extension Fact.Sampling {
    /// What `tracestate` says of a sampled span, so that backends count it for as many as it stands for:
    /// https://opentelemetry.io/docs/specs/otel/trace/tracestate-probability-sampling/.
    ///
    /// `th` is the threshold of the weight that answers give it: 0 for what is delivered because of its end, whether it
    /// was chosen or not. `rv` is the place of its root among a million, since that, and not the trace's ID, is what
    /// goes by the rate.
    ///
    /// - Parameters:
    ///   - root: Of the transactions that are one trace.
    ///   - microseconds: From its opening to its closing.
    /// - Returns: nil where the threshold would be wrong: of what was not to be delivered, and where the root by which it
    ///   was chosen is not known.
    func traceState(root: GUID, outcome: TransactionOutcome, tookMicroseconds microseconds: Int64) -> String? {
        let isKept = isKept(for: outcome, tookMicroseconds: microseconds)
        guard isChosen || isKept, root.isChosen(perMillion: perMillion) == isChosen else { return nil }
        let random = Self.threshold(perMillion: root.samplingPlace + 1)
        let threshold = isKept ? 0 : Self.threshold(perMillion: perMillion)
        var digits = Self.digits(threshold)
        while digits.count > 1, digits.last == "0" { digits.removeLast() }
        return "ot=th:\(digits);rv:\(Self.digits(random))"
    }

    /// Of 2^56 numbers the least that is let through at a rate, if these are uniform.
    private static func threshold(perMillion: Int) -> UInt64 {
        let (all, million) = (UInt64(1) << 56, UInt64(Self.million))
        let product = all.multipliedFullWidth(by: UInt64(min(max(0, perMillion), Self.million)))
        // What is not let through at all has the largest number that 56 bits have.
        return min(all - million.dividingFullWidth(product).quotient, all - 1)
    }

    private static func digits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 14 - digits.count) + digits
    }
}
