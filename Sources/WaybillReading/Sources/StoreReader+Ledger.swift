package import WaybillCore
import WaybillStore

extension StoreReader {
    /// What became of all that was recorded into this very store, those of its sources included of which nothing is left
    /// but sums.
    package func ownLedger() throws(WaybillError) -> Ledger {
        try read { () throws(WaybillError) in
            var ledgers = try Totals(connection: connection).all().map(\.ledger)
            let own = try connection.statement("SELECT id FROM sources WHERE heard_us IS NULL").rows { row in
                row.int(0)
            }
            for source in own { ledgers.append(try Ledgers(connection: connection).ledger(of: source)) }
            return ledgers.reduce(into: Ledger()) { sum, ledger in
                sum.recorded += ledger.recorded
                sum.delivered += ledger.delivered
                sum.quarantined += ledger.quarantined
                sum.pending += ledger.pending
                sum.refused += ledger.refused
                sum.dropped.merge(ledger.dropped, uniquingKeysWith: +)
            }
        }
    }
}
