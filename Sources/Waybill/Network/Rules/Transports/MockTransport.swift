import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Answers a request, or fails it, and sends nothing.
final class MockTransport: HTTPTransport {
    /// How it ends.
    typealias Answer = Result<(HTTPURLResponse, body: Data), URLError>

    /// So that a mock of some size comes in pieces, as an answer from the network does.
    private static let pieceByteCount = 65_536

    private let outgoing: OutgoingRequest
    private let answer: Answer
    private let delay: Duration
    private let schedule: any RuleSchedule
    /// nil before the start and after the end.
    private let events = Locked<(any HTTPEvents)?>(nil)

    /// - Parameter delay: From the start to the answer.
    init(_ outgoing: OutgoingRequest, answer: Answer, after delay: Duration, on schedule: any RuleSchedule) {
        self.outgoing = outgoing
        self.answer = answer
        self.delay = delay
        self.schedule = schedule
    }

    func start(telling events: any HTTPEvents) {
        self.events.withLock { $0 = events }
        schedule.after(delay) { [self] in tell() }
    }

    func cancel() { events.withLock { $0 = nil } }

    private func tell() {
        switch answer {
        case .success((let response, let body)):
            if let count = outgoing.byteCount, count > 0 { wanted?.sent(byteCount: count, expected: count) }
            wanted?.responded(response)
            for start in stride(from: 0, to: body.count, by: Self.pieceByteCount) {
                wanted?.received(body.dropFirst(start).prefix(Self.pieceByteCount))
            }
            end(nil)
        case .failure(let error): end(error)
        }
    }

    /// Who is told, unless it was canceled meanwhile.
    private var wanted: (any HTTPEvents)? { events.withLock { $0 } }

    private func end(_ error: URLError?) {
        let last = events.withLock { events in
            defer { events = nil }
            return events
        }
        last?.ended(error)
    }
}

extension OutgoingRequest {
    /// The length of the body; nil where there is none, or its length is not known.
    fileprivate var byteCount: Int64? {
        guard case .file(let file) = body else { return data.map { Int64($0.count) } }
        return (try? file.resourceValues(forKeys: [.fileSizeKey]))?.fileSize.map { Int64($0) }
    }
}
