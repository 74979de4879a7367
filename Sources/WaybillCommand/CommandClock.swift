#if Collector
import WaybillCollector
import WaybillCore

/// The clock that every command goes by, e.g. for `--before 30d`.
enum CommandClock {
    /// Replaced by tests.
    @TaskLocal static var current: any TransactionClock = SystemClock()
}
#endif
