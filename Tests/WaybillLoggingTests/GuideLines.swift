#if Logging
import Logging
import WaybillLogging

// The lines of the guide, compiled but not run, because a process sets up its log only once.

private func start() {
    LoggingSystem.bootstrap { label in
        MultiplexLogHandler([StreamLogHandler.standardError(label: label), TransactionLogHandler(label: label)])
    }
}

private func startWithMetadata() {
    LoggingSystem.bootstrap(StreamLogHandler.standardError, metadataProvider: .transaction)
}
#endif
