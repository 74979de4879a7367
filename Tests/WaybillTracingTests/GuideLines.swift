#if Tracing
import Tracing
import Waybill
import WaybillTracing

// The lines of the guide, compiled; not run, since a process has one tracer for good.

private func start(_ transactions: TransactionManager) {
    InstrumentationSystem.bootstrap(TransactionTracer(transactions))
}

private func start(_ transactions: TransactionManager, _ backend: any Tracer) {
    InstrumentationSystem.bootstrap(TransactionTracer(transactions, forwardingTo: backend))
}
#endif
