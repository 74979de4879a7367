package import WaybillCore
package import WaybillStore

/// A transaction as one row of a table, with the properties that most questions read.
package struct TransactionRow: Sendable {
    package var id: GUID
    /// The opening of the leading part.
    package var opening: FactID
    package var isJoined = false
    /// Whether its begin time may change without new facts, because its clock is far ahead.
    package var isUnsettled = false
    package var useCase = 0
    package var at: Int64 = 0
    package var begun: Int64 = 0
    package var closing: (sequence: Int64, at: Int64)?
    /// The stored value of ``TransactionOutcome``, which does not say `timedOut`.
    package var outcome = 0
    package var timeout: Int64 = 0
    package var lastActivity: Int64 = 0
    package var errorCode: Int64?
    /// The details of the closing, as in a store; empty without an error.
    package var errorDetail = ""
    package var sampling: Fact.Sampling?
    package var installation: GUID?
    package var device = "", os = "", osVersion = "", endedBy = ""
    /// The latest values, as ``Segmentation/attribute(_:)`` describes.
    package var attributes: Attributes = [:]
    /// All attributes of parts, events and sources, some of them several times.
    package var said: [(name: String, value: AttributeValue)] = []
    /// The sources of the parts, that of the leading part first. Without events, they may be missing.
    package var sources: [Source] = []
    package var parts: [Part] = []
    /// Sorted by source, time and sequence.
    package var events: [Event] = []

    package struct Source: Sendable {
        package var id: GUID
        package var app, appVersion: String
        /// Those that date the facts.
        package var clock: [ClockAnchor]

        package init(id: GUID, app: String, appVersion: String, clock: [ClockAnchor]) {
            (self.id, self.app, self.appVersion, self.clock) = (id, app, appVersion, clock)
        }
    }

    package struct Part: Sendable {
        /// The index in ``TransactionRow/sources``.
        package var source: Int
        package var useCase: Int

        package init(source: Int, useCase: Int) { (self.source, self.useCase) = (source, useCase) }
    }

    package struct Event: Sendable {
        /// The index in ``TransactionRow/parts``.
        package var part: Int
        package var sequence: Int64
        package var at: Int64
        package var code: Int

        package init(part: Int, sequence: Int64, at: Int64, code: Int) {
            (self.part, self.sequence, self.at, self.code) = (part, sequence, at, code)
        }
    }

    package init(id: GUID, opening: FactID) { (self.id, self.opening) = (id, opening) }
}

/// The optional parts of rows.
package struct RowContents: Sendable {
    /// The codes of events; `nil` for all.
    package var codes: Set<Int>?
    package var attributes: Set<String> = []
    package var readsErrors = false
    /// Installation, app, device and system.
    package var readsProperties = false
}

/// Makes the rows of a store's transactions.
struct TransactionRowMaker {
    private let connection: Connection
    private let directory: SourceDirectory
    private var sources: [Int64: (attributes: Attributes, endedBy: String)] = [:]

    init(_ connection: Connection) throws(WaybillError) {
        self.connection = connection
        directory = try SourceDirectory(connection)
        try connection.statement("SELECT id, attributes, ended_by FROM sources").forEachRow { row in
            sources[row.int(0)] = (Attributes(columnText: row.optionalText(1)), row.optionalText(2) ?? "")
        }
    }

    func rows() throws(WaybillError) -> [TransactionRow] {
        try connection.statement(
            """
            SELECT p.guid, p.source, p.sequence, p.joined, p.use_case, p.at_us, p.listed_us, p.closed, p.closed_at_us, \
            p.outcome, p.timeout_us, \(SQL.lastActivity(guid: "p.guid")), p.error_code, p.closed_detail, p.opened_detail, \
            \(FactRowReader.samplingColumns) FROM parts p WHERE p.listed_us IS NOT NULL
            """
        ).rows { row in leadingPart(row) }.map { (found) throws(WaybillError) in try complete(found) }
    }

    private struct Found {
        var row: TransactionRow
        var parts: [FoundPart]
    }

    private struct FoundPart {
        var source: Int64
        var sequence: Int64
        var useCase: Int
        var times: [Int64]
        var opened, closed: String?
    }

    private func leadingPart(_ row: Row) -> Found {
        let source: Int64 = row.int(1)
        let entry = directory.entries[source]
        var made = TransactionRow(
            id: row.guid(0), opening: FactID(source: entry?.id ?? row.guid(0), sequence: row.int(2)))
        (made.isJoined, made.useCase, made.at, made.begun) = (row.bool(3), row.int(4), row.int(5), row.int(6))
        made.closing = row.isNull(7) ? nil : (row.int(7), row.int(8))
        (made.outcome, made.timeout, made.lastActivity) = (row.int(9), row.int(10), row.int(11))
        made.errorCode = row.optionalInt(12)
        if made.errorCode != nil {
            var detail = DetailColumn(row.optionalText(13))
            detail.attributes = [:]
            made.errorDetail = detail.text ?? ""
        }
        made.sampling = FactRowReader.sampling(row, from: 15)
        made.installation = entry?.installation
        (made.device, made.os, made.osVersion) = (entry?.device ?? "", entry?.os ?? "", entry?.osVersion ?? "")
        made.endedBy = sources[source]?.endedBy ?? ""
        made.isUnsettled = directory.wall(made.at, in: source) != made.begun
        let part = FoundPart(
            source: source, sequence: made.opening.sequence, useCase: made.useCase,
            times: [made.at] + (made.closing.map { [$0.at] } ?? []), opened: row.optionalText(14),
            closed: row.optionalText(13))
        return Found(row: made, parts: [part])
    }

    private func complete(_ found: Found) throws(WaybillError) -> TransactionRow {
        var row = found.row
        let others = try connection.statement(
            """
            SELECT p.source, p.sequence, p.use_case, p.opened_detail, p.closed_detail FROM parts p \
            JOIN sources s ON s.id = p.source WHERE p.guid = ? AND p.listed_us IS NULL ORDER BY s.uuid, p.sequence
            """
        ).rows(row.id) { row in
            FoundPart(
                source: row.int(0), sequence: row.int(1), useCase: row.int(2), times: [],
                opened: row.optionalText(3), closed: row.optionalText(4))
        }
        var (numbers, times, said) = ([Int64: Int](), [[Int64]](), Said())
        for part in found.parts + others {
            let source = numbers[part.source] ?? numbers.count
            if numbers.updateValue(source, forKey: part.source) == nil { times.append([]) }
            times[source] += part.times
            row.parts.append(TransactionRow.Part(source: source, useCase: part.useCase))
            var details: [String] = []
            try connection.statement(
                "SELECT sequence, at_us, code, detail FROM events WHERE source = ? AND part = ? ORDER BY after"
            ).forEachRow(part.source, part.sequence) { event in
                if let detail = event.optionalText(3) { details.append(detail) }
                let (at, code): (Int64, Int) = (event.int(1), event.int(2))
                // Changes of attributes are rows of the same table, with negative codes.
                guard code >= 0 else { return }
                times[source].append(at)
                row.events.append(
                    TransactionRow.Event(part: row.parts.count - 1, sequence: event.int(0), at: at, code: code))
            }
            said.add(([part.closed] + details.reversed() + [part.opened]).compactMap(\.self))
            said.add(sources[part.source]?.attributes ?? [:])
        }
        (row.attributes, row.said) = (said.latest, said.all)
        row.events.sort {
            (row.parts[$0.part].source, $0.at, $0.sequence) < (row.parts[$1.part].source, $1.at, $1.sequence)
        }
        for (source, number) in numbers.sorted(by: { $0.value < $1.value }) {
            guard let entry = directory.entries[source] else { continue }
            row.sources.append(
                TransactionRow.Source(
                    id: entry.id, app: entry.app, appVersion: entry.appVersion,
                    clock: entry.clock.anchors(dating: times[number])))
        }
        return row
    }

    /// The first detail that sets or removes an attribute decides.
    private struct Said {
        var latest: Attributes = [:]
        var all: [(name: String, value: AttributeValue)] = []
        private var names: Set<String> = []

        mutating func add(_ details: [String]) {
            for detail in details.lazy.map({ DetailColumn($0) }) {
                add(detail.attributes)
                names.formUnion(detail.removed)
            }
        }

        mutating func add(_ said: Attributes) {
            for (name, value) in said {
                all.append((name, value))
                if names.insert(name).inserted { latest[name] = value }
            }
        }
    }
}

extension StoreReader {
    /// Returns a row for each transaction of a store.
    package func transactionRows() throws(WaybillError) -> [TransactionRow] {
        try read { () throws(WaybillError) in try TransactionRowMaker(connection).rows() }
    }
}

extension AnyQuestion {
    /// The transactions that count; `nil` if the question needs more than their rows.
    package var rowFilter: TransactionFilter? {
        switch self {
        case .legs, .network, .why: return nil
        case .errors(let question) where question.newSinceMicroseconds != nil: return nil
        case .dropOff(let question): return question.unfinished
        case .summary, .duration, .measure, .transitions, .funnel, .compare, .errors: break
        }
        guard !looksAtFamilies, case .transactions(let filter, _) = subject else { return nil }
        return filter
    }

    /// The parts of rows that the question reads.
    package func rowContents(_ reader: StoreReader) throws(WaybillError) -> RowContents {
        var (points, contents): ([TransactionPoint], _) = ([], RowContents(codes: []))
        switch self {
        case .transitions, .dropOff: contents.codes = nil
        case .funnel(let question) where question.isStrict: contents.codes = nil
        case .funnel(let question): points = question.steps
        case .duration(let question): points = [question.from, question.to]
        case .compare(let question): points = [question.from, question.to]
        case .measure(let question): contents.attributes = [question.attribute]
        case .errors: (contents.attributes, contents.readsErrors, contents.readsProperties) = (["user"], true, true)
        case .summary: (contents.readsErrors, contents.readsProperties) = (true, true)
        case .legs, .network, .why: break
        }
        switch subject {
        case .transactions(_, .attribute(let name)?): contents.attributes.insert(name)
        case .transactions(_, let segmentation):
            contents.readsProperties = contents.readsProperties || segmentation != nil
        case .exchanges: break
        }
        for case .event(let name) in points { contents.codes?.formUnion(try reader.connection.codes(named: name)) }
        return contents
    }
}
