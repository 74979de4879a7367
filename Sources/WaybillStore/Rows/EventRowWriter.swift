import WaybillCore

/// The events of a batch, written together: in the order of their rows, and several with each statement.
///
/// That halves what a row costs: SQLite finds its place beside the one before, and runs a statement for many.
struct EventRowWriter {
    private struct Event {
        var part: Int64
        var sequence: Int64
        var atMicroseconds: Int64
        var code: Int
        /// Its place in ``details``, so that no references are counted while events are sorted; nil: it has none.
        var detail: Int32?

        var latest: PartLatest { PartLatest(sequence: sequence, atMicroseconds: atMicroseconds) }
    }

    /// Of each statement; a batch is written with the longest first.
    private static let rowCounts = [64, 8, 1]

    private let source: Int64
    private let statements: [(rowCount: Int, statement: Statement)]
    private var events: [Event] = []
    private var details: [String] = []

    init(of source: Int64, _ connection: Connection) throws(WaybillError) {
        self.source = source
        var statements: [(Int, Statement)] = []
        for (count, text) in Self.insertions { statements.append((count, try connection.statement(text))) }
        self.statements = statements
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
        if let detail { details.append(detail) }
        events.append(
            Event(
                part: fact.part, sequence: fact.sequence, atMicroseconds: fact.atMicroseconds, code: code,
                detail: detail == nil ? nil : Int32(details.count - 1)))
    }

    /// Writes what was added; what is there already stays as it is.
    ///
    /// - Returns: The parts that have events among them, each with the highest sequence and the latest time of those.
    mutating func write() throws(WaybillError) -> [(part: Int64, latest: PartLatest)] {
        events.sort { ($0.part, $0.sequence) < ($1.part, $1.sequence) }
        var rest = events[...]
        for (rowCount, statement) in statements {
            while rest.count >= rowCount {
                try statement.run { arguments in
                    arguments.append(source)
                    for event in rest.prefix(rowCount) {
                        arguments.append(event.part)
                        arguments.append(event.sequence - event.part)
                        arguments.append(event.atMicroseconds)
                        arguments.append(event.code)
                        arguments.append(event.detail.map { details[Int($0)] })
                    }
                }
                rest = rest.dropFirst(rowCount)
            }
        }
        defer { (events, details) = ([], []) }
        var parts: [(part: Int64, latest: PartLatest)] = []
        for event in events {
            if let last = parts.last, last.part == event.part {
                parts[parts.count - 1].latest = last.latest.merged(with: event.latest)
            } else {
                parts.append((event.part, event.latest))
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
