#if Logging
import Logging
import WaybillLogging

// The lines of the guide, compiled; not run, since a process has one log for good.

private func start() {
    LoggingSystem.bootstrap { label in
        MultiplexLogHandler([StreamLogHandler.standardError(label: label), TransactionLogHandler(label: label)])
    }
}

private func startWithMetadata() {
    LoggingSystem.bootstrap(StreamLogHandler.standardError, metadataProvider: .transaction)
}
#endif
