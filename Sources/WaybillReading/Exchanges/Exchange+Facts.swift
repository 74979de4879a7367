package import WaybillCore
import WaybillStore

extension TransactionRecord.Exchange {
    /// An exchange of its two facts.
    ///
    /// All its times go by the clock anchor of its opening, so that its durations are those of the source's own clock,
    /// also where the wall clock was set meanwhile.
    ///
    /// - Parameter closed: nil while it is in progress.
    /// - Returns: nil where the first is not the opening of an exchange.
    init?(_ fact: Fact, closed: Fact?, source: GUID, clock: WallClock) {
        guard case .exchangeOpened(let opened) = fact.content else { return nil }
        var closing: Fact.ExchangeClosed?
        if case .exchangeClosed(let content) = closed?.content { closing = content }
        let offset = clock.offset(at: fact.atMicroseconds)
        let wall = { (at: Int64) in at.adding(offset) }
        self.init(
            id: Fact.ID(source: source, sequence: fact.sequence), part: fact.part, role: opened.role,
            method: opened.method,
            url: opened.url,
            state: closing?.state, status: closing?.status, openedMicroseconds: wall(fact.atMicroseconds),
            firstByteMicroseconds: closing?.firstByteAtMicroseconds.map(wall),
            closedMicroseconds: closed.map { wall($0.atMicroseconds) },
            sentByteCount: closing?.sentByteCount, receivedByteCount: closing?.receivedByteCount,
            requestHeaderFields: opened.headerFields,
            responseHeaderFields: closing?.headerFields ?? [], error: closing?.error,
            transfer: closing?.transfer.timed(by: wall) ?? Fact.Transfer())
    }
}

extension Fact.Transfer {
    /// The same with times of another clock.
    package func timed(by clock: (Int64) -> Int64) -> Self {
        var transfer = self
        transfer.sentAtMicroseconds = sentAtMicroseconds.map(clock)
        for index in redirects.indices {
            transfer.redirects[index].atMicroseconds = clock(redirects[index].atMicroseconds)
        }
        transfer.webSocket = webSocket?.timed(by: clock)
        return transfer
    }
}
