#if Collector
import WaybillCollector
import WaybillCore

/// The clock of every command, which tests replace.
enum CommandClock {
    @TaskLocal static var current: any TransactionClock = SystemClock()
}
#endif
