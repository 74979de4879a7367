import Waybill
import WaybillCore
import WaybillStore

extension Row {
    /// The same call while nothing is recorded: the cost for an instrumented app with recording turned off.
    static let disabledLog = Row("disabled.log", unit: "ns/event", against: "an empty call") {
        let count = 1_000_000
        let login = TransactionManager.disabled.begin(Login.self)
        // Called through a table, to keep both calls inside the loop.
        var calls: [(UseCaseTransaction<Login>) -> LogResult] = [{ $0.log(.initiated) }, { _ in .off }]
        if CommandLine.arguments.isEmpty { calls.reverse() }
        let (logged, nothing) = (calls[0], calls[1])
        return try Comparison.nanoseconds(operations: count) {
            var off = 0
            for _ in 0..<count where logged(login) == .off { off += 1 }
            return off
        } against: {
            var off = 0
            for _ in 0..<count where nothing(login) == .off { off += 1 }
            return off
        }
    }
}
