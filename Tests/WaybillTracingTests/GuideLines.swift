#if Tracing
import Tracing
import Waybill
import WaybillTracing

// The lines of the guide, compiled but not run, because a process can set its tracer only once.

private func start(_ transactions: TransactionManager) {
    InstrumentationSystem.bootstrap(TransactionTracer(transactions))
}

private func start(_ transactions: TransactionManager, _ backend: any Tracer) {
    InstrumentationSystem.bootstrap(TransactionTracer(transactions, forwardingTo: backend))
}
#endif
