import WaybillCore

/// The points that a question names, looked up.
struct AskedPoints {
    /// The numbers of events' names; nil for the beginning and the outcome.
    private let names: [Int?]
    private let points: [TransactionPoint]
    /// Codes of all events that are named.
    let codes: Set<Int>

    /// - Throws: `.setting` where an event is named and no use case; `.notFound` where nothing is called so.
    init(
        _ points: [TransactionPoint], of useCase: Int?, sources: inout AskedSources, _ connection: Connection
    ) throws(WaybillError) {
        self.points = points
        var codes: Set<Int> = []
        var names: [Int?] = []
        for point in points {
            guard case .event(let name) = point else {
                names.append(nil)
                continue
            }
            guard useCase != nil else {
                throw WaybillError(.setting, "“\(name)” is an event of some use case; say of which.")
            }
            let found = try sources.codes(named: name)
            guard !found.isEmpty else { throw try Self.unknown(name, connection) }
            codes.formUnion(found)
            names.append(sources.number(of: name))
        }
        self.codes = codes
        self.names = names
    }

    private static func unknown(_ name: String, _ connection: Connection) throws(WaybillError) -> WaybillError {
        let known = try connection.statement("SELECT DISTINCT name FROM names WHERE event >= 0 ORDER BY name").rows { row in row.text(0) }
        let hint = name.hint(among: known, none: "no event here has a name; “event 7” stands for the one with the code 7.")
        return WaybillError(.notFound, "No event here is called “\(name)”: \(hint)")
    }

    /// Whether a point is where something of a transaction stands.
    func matches(_ event: AskedEvent, _ index: Int) -> Bool { names[index] == event.name }

    /// All occurrences of a point in a transaction, in no order across sources.
    func occurrences(
        of index: Int, in transaction: AskedTransactions.Transaction, _ events: [AskedEvent], _ sources: AskedSources
    ) -> [AskedEvent] {
        switch points[index] {
        case .begun: [transaction.begin]
        case .finished: transaction.end(sources).map { [$0] } ?? []
        case .event: events.filter { $0.name == names[index] }
        }
    }
}
