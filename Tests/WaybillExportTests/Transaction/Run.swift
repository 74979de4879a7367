import WaybillCore
import WaybillQueries

/// Builds the record of one transaction, fact by fact, as a store would return it.
struct Run {
    private(set) var record: TransactionRecord
    private let begun: Int64
    private let client = TransactionRecord.Source(
        id: GUID(), app: "shop", appVersion: "1", device: "", os: "", osVersion: "")
    private let server = TransactionRecord.Source(
        id: GUID(), app: "server", appVersion: "2", device: "", os: "", osVersion: "")
    private var sequence: Int64 = 1

    /// - Parameter begun: Microseconds since 1970; all other times are relative to it.
    init(begun: Int64, useCase: Int = 0, name: String = "purchase") {
        self.begun = begun
        let summary = TransactionSummary(
            id: GUID(), useCase: useCase, useCaseName: name, outcome: .open, begunMicroseconds: begun,
            durationMicroseconds: nil,
            error: nil, attributes: [:], sourceCount: 1, eventCount: 0, exchangeCount: 0, isWaitingForBeginner: false)
        let opening = FactID(source: client.id, sequence: 1)
        let part = TransactionRecord.Part(
            id: opening, isJoined: false, cause: nil, openedMicroseconds: begun, closedMicroseconds: nil,
            outcome: .open, error: nil,
            attributes: [:])
        record = TransactionRecord(
            summary: summary, sources: [client], parts: [part],
            timeline: [
                TransactionRecord.Entry(id: opening, kind: .begun, part: 1, timeMicroseconds: begun, label: "begun")
            ], exchanges: []
        )
    }

    mutating func event(
        _ name: String, at time: Int64, error: RecordedError? = nil, attributes: Attributes = [:], joined: Bool = false
    ) {
        add(.event, name, at: time, error: error, attributes: attributes, by: joined ? server : client)
    }

    /// - Parameter status: `nil` if the exchange failed.
    mutating func exchange(_ method: String, _ path: String, _ status: Int?, from start: Int64, to end: Int64) {
        let id = FactID(source: client.id, sequence: sequence + 1)
        record.exchanges.append(
            TransactionRecord.Exchange(
                id: id, part: 1, role: .client, method: method, url: "https://api.example.com\(path)",
                state: status == nil ? .failed : .completed, status: status, openedMicroseconds: begun + start,
                firstByteMicroseconds: nil,
                closedMicroseconds: begun + end, sentByteCount: nil, receivedByteCount: nil, requestHeaderFields: [],
                responseHeaderFields: [], error: nil))
        add(.exchangeBegun, "\(method) \(path)", at: start, by: client, exchange: id)
        add(.exchangeFinished, status.map { "\($0)" } ?? "failed", at: end, by: client, exchange: id)
    }

    mutating func close(_ outcome: String, at time: Int64, error: RecordedError? = nil) {
        record.parts[0].closedMicroseconds = begun + time
        add(.finished, outcome, at: time, error: error, by: client)
    }

    /// Adds a server that takes part from `time` on, by its own clock.
    ///
    /// - Parameter offset: The offset of the server's clock; `nil` if unknown.
    mutating func join(at time: Int64, offset: ClockAlignment.Offset?) {
        record.sources.append(server)
        record.parts.append(
            TransactionRecord.Part(
                id: FactID(source: server.id, sequence: sequence + 1), isJoined: true,
                cause: record.exchanges.last?.id,
                openedMicroseconds: begun + time, closedMicroseconds: nil, outcome: .open, error: nil, attributes: [:]))
        var offset = offset
        offset?.source = server.id
        record.clocks = ClockAlignment(reference: client.id, offsets: offset.map { [$0] } ?? [])
        add(.begun, "joined", at: time, by: server)
    }

    private mutating func add(
        _ kind: TransactionRecord.Kind, _ label: String, at time: Int64, error: RecordedError? = nil,
        attributes: Attributes = [:],
        by source: TransactionRecord.Source, exchange: FactID? = nil
    ) {
        sequence += 1
        let part = source.id == client.id ? 1 : record.parts.last?.id.sequence ?? 1
        let place = record.timeline.firstIndex { $0.timeMicroseconds > begun + time } ?? record.timeline.endIndex
        record.timeline.insert(
            TransactionRecord.Entry(
                id: FactID(source: source.id, sequence: sequence), kind: kind, part: part,
                timeMicroseconds: begun + time, label: label,
                error: error, attributes: attributes, exchange: exchange), at: place)
    }
}
