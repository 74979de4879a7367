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

/// A time for each leg that is there, in no memory of its own: one is made for each transaction.
struct LegTimes {
    private var times = SIMD8<Int64>()
    private var isThere = SIMD8<Int64>()

    /// nil: it is not there.
    subscript(leg: Leg) -> Int64? {
        get { isThere[leg.place] == 0 ? nil : times[leg.place] }
        set {
            isThere[leg.place] = newValue == nil ? 0 : 1
            times[leg.place] = newValue ?? 0
        }
    }

    /// - Parameter none: Where it is not there.
    subscript(leg: Leg, default none: Int64) -> Int64 {
        get { self[leg] ?? none }
        set { self[leg] = newValue }
    }
}

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
