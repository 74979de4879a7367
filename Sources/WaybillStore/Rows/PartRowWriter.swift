package import WaybillCore

/// A writer for a batch of openings, closings and updates of one source's parts, which ``finish()`` completes.
///
/// An opening and its closing share a row, and either may arrive first. A new opening waits for its closing until the
/// end of the batch, so its row is indexed once.
struct PartRowWriter: ~Copyable {
    private struct Opening {
        var part: Int64
        var content: Fact.Opened
        var latest: PartLatest
        /// The time in lists, in microseconds since 1970; `nil` if the transaction has other parts.
        var listed: Int64?
        var closing: (latest: PartLatest, content: Fact.Closed)?
    }

    private static let rowCounts = [64, 16, 4, 1]

    private let source: SourceRow
    private let connection: Connection
    private let clock: WallClock
    private let opened: Statement
    private let closed: Statement
    private var newest: Int64
    private var openings: [Opening] = []
    private var places: [Int64: Int] = [:]
    private var transactions: Set<GUID> = []
    private var shared: Set<GUID> = []
    private var closings: [Int64: PartLatest] = [:]
    private var touched: [Int64: PartLatest] = [:]

    init(_ source: SourceRow, _ connection: Connection) throws(WaybillError) {
        let clock = try WallClock(of: source.id, connection)
        let opened = try connection.statement(Self.insertOpened)
        let closed = try connection.statement(Self.insertClosed)
        newest = try connection.integer("SELECT max(sequence) FROM parts WHERE source = ?", source.id)
        (self.source, self.connection, self.clock) = (source, connection, clock)
        (self.opened, self.closed) = (opened, closed)
    }

    mutating func open(_ fact: Fact, _ content: Fact.Opened) throws(WaybillError) {
        guard places[fact.sequence] == nil else { return }
        var isFirst = transactions.insert(content.transaction).inserted
        if isFirst { isFirst = try !connection.hasPart(of: content.transaction) }
        if !isFirst { shared.insert(content.transaction) }
        let opening = Opening(
            part: fact.sequence, content: content, latest: fact.latest,
            listed: isFirst ? LeadingParts.listed(begun: clock.wall(fact.atMicroseconds), heard: source.heard) : nil)
        if fact.sequence > newest {
            places[fact.sequence] = openings.count
            openings.append(opening)
        } else {
            try opened.run { arguments in
                arguments.append(source.id)
                append(opening, opening.latest, to: &arguments)
            }
        }
    }

    /// Returns a rejection if another fact has closed the part.
    mutating func close(_ fact: Fact, _ content: Fact.Closed) throws(WaybillError) -> String? {
        if let place = places[fact.part] {
            guard openings[place].closing == nil else { return Self.isClosed }
            openings[place].closing = (fact.latest, content)
            return nil
        }
        try closed.run(
            source.id, fact.part, fact.sequence, fact.atMicroseconds, content.error?.code, content.detail,
            content.outcome.rawValue, !source.isOwn)
        guard connection.changeCount > 0 else { return Self.isClosed }
        newest = max(newest, fact.part)
        closings[fact.part] = fact.latest
        return nil
    }

    private static let isClosed = "the part is closed already by another fact"

    mutating func touch(_ part: Int64, _ latest: PartLatest) {
        touched[part] = touched[part].map { $0.merged(with: latest) } ?? latest
    }

    mutating func writeOpenings() throws(WaybillError) {
        var rest = places.ordered { $0.key < $1.key }[...]
        newest = max(newest, rest.last?.key ?? 0)
        for (rowCount, text) in Self.insertions where rest.count >= rowCount {
            let statement = try connection.statement(text)
            while rest.count >= rowCount {
                try statement.run { arguments in
                    arguments.append(source.id)
                    for (part, place) in rest.prefix(rowCount) {
                        let opening = openings[place]
                        let touch = touched.removeValue(forKey: part)
                        append(opening, touch?.merged(with: opening.latest) ?? opening.latest, to: &arguments)
                    }
                }
                rest = rest.dropFirst(rowCount)
            }
        }
        (openings, places) = ([], [:])
    }

    mutating func finish() throws(WaybillError) -> Set<GUID> {
        try writeOpenings()
        let statement = try connection.statement(Self.touchPart)
        for (part, latest) in touched {
            // Mostly, the closing's row already has these values.
            if let closing = closings[part], closing.covers(latest) { continue }
            try statement.run(source.id, part, outcomeOfOpen, latest.sequence, latest.atMicroseconds, !source.isOwn)
        }
        defer { shared = [] }
        (transactions, closings, touched) = ([], [:], [:])
        return shared
    }

    private func append(_ opening: Opening, _ latest: PartLatest, to arguments: inout Arguments) {
        let (content, closing) = (opening.content, opening.closing)
        arguments.append(opening.part)
        arguments.append(content.transaction)
        arguments.append(content.useCase)
        arguments.append(content.isJoined)
        arguments.append(ownTimeout(of: content))
        arguments.append(opening.latest.atMicroseconds)
        arguments.append(content.cause?.source)
        arguments.append(content.cause?.sequence)
        arguments.append(DetailColumn(attributes: content.attributes).text)
        arguments.append(closing?.latest.sequence)
        arguments.append(closing?.latest.atMicroseconds)
        arguments.append(closing?.content.error?.code)
        arguments.append(closing?.content.detail)
        arguments.append(closing?.content.outcome.rawValue ?? outcomeOfOpen)
        arguments.append(opening.listed)
        arguments.append(latest.sequence > closing?.latest.sequence ?? .min ? latest.sequence : nil)
        arguments.append(latest.atMicroseconds > closing?.latest.atMicroseconds ?? .min ? latest.atMicroseconds : nil)
        arguments.append(!source.isOwn)
        arguments.append(content.parent)
        arguments.append(content.parentPart)
        arguments.append(content.sampling?.perMillion)
        arguments.append(content.sampling.map { !$0.isChosen })
        arguments.append(content.sampling?.slowMicroseconds)
        arguments.append(source.isOwn && content.sampling?.isChosen == false)
    }

    private func ownTimeout(of opened: Fact.Opened) -> Int64? {
        opened.timeoutMicroseconds == Fact.Opened.usualTimeoutMicroseconds ? nil : opened.timeoutMicroseconds
    }

    private var outcomeOfOpen: Int { (source.hasEnded ? TransactionOutcome.interrupted : .open).rawValue }
}

struct PartLatest {
    var sequence: Int64
    var atMicroseconds: Int64

    func merged(with other: PartLatest) -> PartLatest {
        PartLatest(sequence: max(sequence, other.sequence), atMicroseconds: max(atMicroseconds, other.atMicroseconds))
    }

    func covers(_ other: PartLatest) -> Bool { sequence >= other.sequence && atMicroseconds >= other.atMicroseconds }
}

extension Fact {
    var latest: PartLatest { PartLatest(sequence: sequence, atMicroseconds: atMicroseconds) }
}

extension Fact.Closed {
    fileprivate var detail: String? { DetailColumn(attributes: attributes, error: error).text }
}

extension PartRowWriter {
    private static let insert = """
        INSERT INTO parts(source, sequence, guid, use_case, joined, own_timeout_us, at_us, cause_source, cause, opened_detail, \
        closed, closed_at_us, error_code, closed_detail, outcome, listed_us, beyond, beyond_at_us, settled, parent, parent_part, \
        sample_ppm, sample_kept, slow_us, held) \
        VALUES
        """

    private static let row = "(?1\(String(repeating: ", ?", count: 24)))"

    private static let insertions = rowCounts.map { count in
        (count, "\(insert) \(Array(repeating: row, count: count).joined(separator: ", "))")
    }

    private static let insertOpened = """
        \(insert) \(row) \
        ON CONFLICT(source, sequence) DO UPDATE SET guid = excluded.guid, use_case = excluded.use_case, joined = excluded.joined, \
        own_timeout_us = excluded.own_timeout_us, at_us = excluded.at_us, cause_source = excluded.cause_source, cause = excluded.cause, \
        opened_detail = excluded.opened_detail, listed_us = excluded.listed_us, parent = excluded.parent, \
        parent_part = excluded.parent_part, sample_ppm = excluded.sample_ppm, sample_kept = excluded.sample_kept, \
        slow_us = excluded.slow_us, held = excluded.held, \(latest()) WHERE guid IS NULL
        """

    private static let insertClosed = """
        INSERT INTO parts(source, sequence, closed, closed_at_us, error_code, closed_detail, outcome, settled) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
        ON CONFLICT(source, sequence) DO UPDATE SET closed = excluded.closed, closed_at_us = excluded.closed_at_us, \
        error_code = excluded.error_code, closed_detail = excluded.closed_detail, outcome = excluded.outcome, \
        \(latest(closed: "excluded.closed", closedAt: "excluded.closed_at_us")) WHERE closed IS NULL
        """

    private static let touchPart = """
        INSERT INTO parts(source, sequence, outcome, beyond, beyond_at_us, settled) VALUES (?, ?, ?, ?, ?, ?) \
        ON CONFLICT(source, sequence) DO UPDATE SET \(latest())
        """

    /// Excludes the closing's own values.
    private static func latest(closed: String = "closed", closedAt: String = "closed_at_us") -> String {
        """
        beyond = nullif(max(last, excluded.last), \(closed)), beyond_at_us = nullif(max(last_at_us, excluded.last_at_us), \(closedAt)), \
        settled = excluded.settled
        """
    }
}

package struct PlacedPart: Sendable, Equatable {
    package var transaction: GUID
    package var useCase: Int

    init(transaction: GUID, useCase: Int) { (self.transaction, self.useCase) = (transaction, useCase) }

    package init(_ opened: Fact.Opened) { self.init(transaction: opened.transaction, useCase: opened.useCase) }

    package init(_ part: ContinuedPart) { self.init(transaction: part.transaction, useCase: part.useCase) }
}

/// The parts of a source whose opening has arrived.
package struct PlacedParts {
    private let source: Int64
    private let opening: Statement

    package init(of source: Int64, _ connection: Connection) throws(WaybillError) {
        self.source = source
        opening = try connection.statement(
            "SELECT guid, use_case FROM parts WHERE source = ? AND sequence = ? AND guid IS NOT NULL")
    }

    package func part(_ sequence: Int64) throws(WaybillError) -> PlacedPart? {
        try opening.first(source, sequence) { row in PlacedPart(transaction: row.guid(0), useCase: row.int(1)) }
    }

    func transactions(of parts: Set<Int64>) throws(WaybillError) -> Set<GUID> {
        var transactions: Set<GUID> = []
        for sequence in parts where sequence != 0 {
            if let transaction = try part(sequence)?.transaction { transactions.insert(transaction) }
        }
        return transactions
    }
}
