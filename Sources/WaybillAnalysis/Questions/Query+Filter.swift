package import WaybillReading

extension Query {
    /// Which transactions count; of the question about the network, whose exchanges.
    package var filter: TransactionFilter {
        get {
            switch self {
            case .summary(let query): query.filter
            case .duration(let query): query.filter
            case .transitions(let query): query.filter
            case .funnel(let query): query.filter
            case .dropOff(let query): query.filter
            case .legs(let query): query.filter
            case .network(let query): query.transactions ?? TransactionFilter()
            case .compare(let query): query.filter
            }
        }
        set {
            switch self {
            case .summary(let query): self = .summary(changed(query) { $0.filter = newValue })
            case .duration(let query): self = .duration(changed(query) { $0.filter = newValue })
            case .transitions(let query): self = .transitions(changed(query) { $0.filter = newValue })
            case .funnel(let query): self = .funnel(changed(query) { $0.filter = newValue })
            case .dropOff(let query): self = .dropOff(changed(query) { $0.filter = newValue })
            case .legs(let query): self = .legs(changed(query) { $0.filter = newValue })
            case .network(let query): self = .network(changed(query) { $0.transactions = newValue })
            case .compare(let query): self = .compare(changed(query) { $0.filter = newValue })
            }
        }
    }

    private func changed<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
        var value = value
        change(&value)
        return value
    }
}
