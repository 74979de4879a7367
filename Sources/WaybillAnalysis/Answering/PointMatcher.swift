import WaybillCore
import WaybillStore

/// The points that a question names, looked up.
struct PointMatcher {
    /// The numbers of events' names; nil for the beginning and the outcome.
    private let names: [Int?]
    private let points: [TransactionPoint]
    let sources: SourceDirectory
    /// Codes of all events that are named.
    let codes: Set<Int>
    /// Those of them that nothing is called.
    let unknown: UnknownNames

    /// - Throws: `.setting` where an event is named and no use case; `.notFound` where nothing is called so, unless
    ///   other stores have some of the transactions.
    init(_ points: [TransactionPoint], of useCase: Int?, _ context: AnswerContext) throws(WaybillError) {
        self.points = points
        sources = try SourceDirectory(context.connection)
        var codes: Set<Int> = []
        var names: [Int?] = []
        var unknown = UnknownNames()
        for point in points {
            guard case .event(let name) = point else {
                names.append(nil)
                continue
            }
            guard useCase != nil else {
                throw WaybillError(.setting, "“\(name)” is an event of some use case; say of which.")
            }
            let found = try sources.codes(named: name)
            if found.isEmpty {
                if unknown.known.isEmpty { unknown.known = try Self.known(context.connection) }
                guard context.isPartial else { throw .unknown(event: name, unknown.known) }
                unknown.unknown.append(name)
            }
            codes.formUnion(found)
            names.append(sources.number(of: name))
        }
        self.codes = codes
        self.names = names
        self.unknown = unknown
    }

    private static func known(_ connection: Connection) throws(WaybillError) -> Set<String> {
        Set(
            try connection.statement("SELECT DISTINCT name FROM names WHERE event >= 0").rows { row in row.text(0) })
    }

    /// What has to be read of transactions: beginnings and outcomes only where a point is one.
    var contents: TransactionCursor.Contents { names.contains(nil) ? .times : [] }

    /// Whether a point is where something of a transaction stands.
    func matches(_ event: TimePoint, _ index: Int) -> Bool { names[index] == event.name }

    /// The first or the last occurrence of a point in a transaction: of each source by its own clock, of those by their wall
    /// clocks.
    ///
    /// - Parameters:
    ///   - events: As ``EventCursor`` hands them out.
    ///   - earlier: What it has to come after; nil: nothing.
    func occurrence(
        _ which: DurationQuestion.Occurrence, of index: Int, in transaction: TransactionCursor.Transaction,
        _ events: [TimePoint],
        after earlier: TimePoint? = nil, _ sources: SourceDirectory
    ) -> TimePoint? {
        func isLater(_ event: TimePoint) -> Bool { earlier.map { event.isAfter($0, sources) } ?? true }
        switch points[index] {
        case .begun: return isLater(transaction.begin) ? transaction.begin : nil
        case .finished: return transaction.end(sources).flatMap { isLater($0) ? $0 : nil }
        case .event: break
        }
        var chosen: TimePoint?
        var ofSource: TimePoint?
        func choose() {
            guard let candidate = ofSource else { return }
            if chosen.map({ $0.isAfter(candidate, sources) == (which == .first) }) ?? true { chosen = candidate }
        }
        for event in events where event.name == names[index] && isLater(event) {
            if let other = ofSource, other.source == event.source {
                if which == .last { ofSource = event }
            } else {
                choose()
                ofSource = event
            }
        }
        choose()
        return chosen
    }
}

extension TransactionPoint {
    var inWords: String {
        switch self {
        case .begun: "its beginning"
        case .finished: "an outcome"
        case .event(let name): "“\(name)”"
        }
    }
}
