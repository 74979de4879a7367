import Synchronization
package import WaybillCore
import WaybillStore

/// A network exchange under way, from one end: opened before the request is sent, closed once.
package final class OpenExchange: Sendable {
    /// The sequence of its `exchange_opened` fact; 0 where that was not taken.
    package let sequence: Int
    private let part: Int
    private let source: RunningSource
    private let isClosed: Atomic<Bool>

    /// Records that an exchange starts.
    ///
    /// - Parameters:
    ///   - opened: The request, redacted already.
    ///   - part: The part it belongs to; nil: outside any transaction.
    package init(_ opened: Fact.ExchangeOpened, part: OpenPart?, source: RunningSource) {
        // A part that was not taken has no number that an exchange could name.
        let isTaken = part.map { $0.sequence > 0 && $0.source === source } ?? true
        self.part = part?.sequence ?? 0
        self.source = source
        sequence = isTaken ? source.record(.exchangeOpened(opened), part: part?.sequence ?? 0).sequence : 0
        isClosed = Atomic(sequence == 0)
    }

    /// Records that it ended; only the first call counts.
    ///
    /// - Parameter headerFields: The response's, as they came; redacted here.
    package func close(
        _ state: Fact.ExchangeState, status: Int? = nil, sentByteCount: Int? = nil, receivedByteCount: Int? = nil,
        headerFields: [Fact.HeaderField] = [], error: (any Error)? = nil
    ) {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        let closed = Fact.ExchangeClosed(
            exchange: sequence, state: state, status: status, sentByteCount: sentByteCount, receivedByteCount: receivedByteCount,
            headerFields: source.settings.redactor.headerFields(headerFields), error: source.recorded(error))
        _ = source.record(.exchangeClosed(closed), part: part)
    }
}
