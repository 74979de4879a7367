import WaybillCore

/// The events of a batch, written together: in the order of their rows, and several with each statement.
///
/// That halves what a row costs: SQLite finds its place beside the one before, and runs a statement for many.
struct EventRowWriter {
    private struct Event {
        var sequence: Int64
        var atMicroseconds: Int64
        var code: Int
        var detail: String?

        var latest: PartLatest { PartLatest(sequence: sequence, atMicroseconds: atMicroseconds) }
    }

    /// Of each statement; a batch is written with the longest first, each prepared when there is enough for it.
    private static let rowCounts = [64, 8, 1]

    private let source: Int64
    private let connection: Connection
    private var events: [Event] = []
    /// Their order: apart from them, since less is moved then.
    private var order: [(part: Int64, place: Int32)] = []

    /// - Parameter count: How many there are at most.
    init(of source: Int64, count: Int, _ connection: Connection) {
        self.source = source
        self.connection = connection
        events.reserveCapacity(count)
        order.reserveCapacity(count)
    }

    mutating func add(_ fact: Fact, _ content: Fact.Event) {
        var text: String?
        if !content.isPlain {
            var detail = DetailColumn(attributes: content.attributes, error: content.error)
            detail.errorCode = content.error?.code
            text = detail.text
        }
        add(fact, code: content.code, detail: text)
    }

    /// Adds attributes that were set, which have their rows among the events'.
    mutating func add(_ fact: Fact, _ content: Fact.AttributesSet) {
        var detail = DetailColumn(attributes: content.attributes)
        detail.removed = content.removed
        add(fact, code: Tables.codeOfAttributesSet, detail: detail.text)
    }

    private mutating func add(_ fact: Fact, code: Int, detail: String?) {
        order.append((fact.part, Int32(events.count)))
        events.append(
            Event(sequence: fact.sequence, atMicroseconds: fact.atMicroseconds, code: code, detail: detail))
    }

    /// Writes what was added; what is there already stays as it is.
    ///
    /// - Returns: The parts that have events among them, each with the highest sequence and the latest time of those.
    mutating func write() throws(WaybillError) -> [(part: Int64, latest: PartLatest)] {
        // Those of a part mostly come in order.
        order.sort { ($0.part, $0.place) < ($1.part, $1.place) }
        var rest = order[...]
        for (rowCount, text) in Self.insertions where rest.count >= rowCount {
            let statement = try connection.statement(text)
            while rest.count >= rowCount {
                try statement.run { arguments in
                    arguments.append(source)
                    for (part, place) in rest.prefix(rowCount) {
                        let event = events[Int(place)]
                        arguments.append(part)
                        arguments.append(event.sequence - part)
                        arguments.append(event.atMicroseconds)
                        arguments.append(event.code)
                        if let detail = event.detail { arguments.append(detail) } else { arguments.appendNull() }
                    }
                }
                rest = rest.dropFirst(rowCount)
            }
        }
        defer { (events, order) = ([], []) }
        var parts: [(part: Int64, latest: PartLatest)] = []
        for (part, place) in order {
            let latest = events[Int(place)].latest
            if let last = parts.last, last.part == part {
                parts[parts.count - 1].latest = last.latest.merged(with: latest)
            } else {
                parts.append((part, latest))
            }
        }
        return parts
    }

    private static let insertions = rowCounts.map { count in
        let rows = Array(repeating: "(?1, ?, ?, ?, ?, ?)", count: count).joined(separator: ", ")
        return (
            count, "INSERT INTO events(source, part, after, at_us, code, detail) VALUES \(rows) ON CONFLICT DO NOTHING"
        )
    }
}
