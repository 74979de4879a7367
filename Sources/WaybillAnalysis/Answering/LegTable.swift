/// A value for each leg: a dictionary would hash their names, which took a third of the time to divide transactions.
struct LegTable<Value> {
    private var values: [Value]

    init(repeating value: Value) { values = Array(repeating: value, count: Leg.allCases.count) }

    subscript(leg: Leg) -> Value {
        get { values[leg.place] }
        _modify { yield &values[leg.place] }
    }
}

extension LegTable: Sendable where Value: Sendable {}

extension Leg {
    fileprivate var place: Int {
        switch self {
        case .clientBefore: 0
        case .request: 1
        case .server: 2
        case .response: 3
        case .network: 4
        case .exchange: 5
        case .clientBetween: 6
        case .clientAfter: 7
        }
    }
}
