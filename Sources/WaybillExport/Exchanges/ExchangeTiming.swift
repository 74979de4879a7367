import WaybillCore
package import WaybillReading

/// Where the time of an exchange went: phases, one after the other, that add up to the whole.
package struct ExchangeTiming: Sendable, Hashable {
    /// Looking up the host's name, in microseconds; nil where it was not measured.
    package let lookup: Int64?
    /// Connecting, without TLS.
    package let connect: Int64?
    /// The TLS handshake.
    package let secure: Int64?
    /// Until the request's last byte was handed over, without the phases before; nil where that was not measured.
    package let send: Int64?
    /// Until the first byte of the response came, or the end where none came; with the sending where that was not
    /// measured.
    package let wait: Int64
    /// Until the last byte; nil where the first was not measured.
    package let receive: Int64?

    /// nil while the exchange is in progress.
    package init?(_ exchange: TransactionRecord.Exchange) {
        guard let closed = exchange.closedMicroseconds else { return nil }
        // Clocks of a platform's metrics may differ by a little: no phase reaches beyond those that follow.
        var rest = max(0, closed - exchange.openedMicroseconds)
        let firstByte = exchange.firstByteMicroseconds.map { min(max(0, $0 - exchange.openedMicroseconds), rest) }
        receive = firstByte.map { rest - $0 }
        rest = firstByte ?? rest
        func taken(_ wanted: Int64?) -> Int64? {
            guard let wanted else { return nil }
            let time = min(max(0, wanted), rest)
            rest -= time
            return time
        }
        let phases = exchange.transfer.phases
        let sent = exchange.transfer.sentAtMicroseconds.map { $0 - exchange.openedMicroseconds }
        lookup = taken(phases.lookupMicroseconds)
        connect = taken(phases.connectMicroseconds)
        secure = taken(phases.secureMicroseconds)
        let before = (lookup ?? 0) + (connect ?? 0) + (secure ?? 0)
        send = taken(sent.map { $0 - before })
        wait = rest
    }

    /// The sum of all phases.
    package var total: Int64 { phases.reduce(0) { $0 + $1.duration } }

    /// Those that were measured, in order, with their names.
    package var phases: [(name: String, duration: Int64)] {
        [
            ("lookup", lookup), ("connect", connect), ("TLS", secure), ("send", send), ("wait", wait as Int64?),
            ("receive", receive),
        ].compactMap { name, duration in duration.map { (name, $0) } }
    }
}
