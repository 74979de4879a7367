#if Collector
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillReading

extension SpanRelay {
    /// Sends what is new, again and again, and tells what became of it; returns only when the task is canceled.
    mutating func follow() async throws {
        while true {
            do {
                let receipt = try await round(ListRequest())
                if receipt != SpanReceipt() { Terminal.warn(receipt.sentence) }
                try await Task.sleep(for: .seconds(1))
            } catch let error as WaybillError {
                Terminal.warn("\(error)")
                try await Task.sleep(for: TraceBackend.longestWait)
            }
        }
    }
}
#endif
