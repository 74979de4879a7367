/// The values of something, moment by moment.
struct History<Value> {
    private var steps: [(moment: Int, value: Value)] = []

    mutating func append(_ value: Value, at moment: Int) { steps.append((moment, value)) }

    /// The latest value.
    var last: Value? { steps.last?.value }

    /// The value at a moment; `nil` before the first one.
    func value(at moment: Int) -> Value? {
        var (low, high) = (0, steps.count)
        while low < high {
            let middle = (low + high) / 2
            if steps[middle].moment <= moment { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? steps[low - 1].value : nil
    }
}
