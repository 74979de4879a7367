#if Collector
public import Foundation
public import Logging
public import ServiceLifecycle
public import WaybillCore
package import WaybillExport
package import WaybillQueries

/// A service that sends new facts of a collector to a tracing backend once a second, as spans by OTLP/HTTP.
///
/// A cursor file for each project, e.g. `waybill.otlp-cursor`, records what the backend has accepted. So no outage
/// loses spans, but the service may send some again, with the same IDs. Add the service to an application.
public struct SpanService: Service {
    private let collector: Collector
    private let backend: TraceBackend
    private let logger: Logger
    private let pause: @Sendable (Duration) async throws -> Void

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - collector: The collector whose projects are sent.
    ///   - backend: The address of the backend. An address without a path gets the path `/v1/traces`.
    ///   - headers: Header fields of each request, e.g. for authorization. Default: none.
    ///   - logger: Logs rejected spans and outages of the backend.
    /// - Throws: `setting` if `backend` is no HTTP address.
    public init(_ collector: Collector, to backend: URL, headers: [String: String] = [:], logger: Logger)
        throws(WaybillError)
    {
        self.init(collector, to: try TraceBackend(backend, headers: headers), logger: logger)
    }

    package init(
        _ collector: Collector, to backend: TraceBackend, logger: Logger,
        pause: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.collector = collector
        self.backend = backend
        self.logger = logger
        self.pause = pause
    }

    /// Runs until the application shuts down.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            var relays: [ProjectName: SpanRelay] = [:]
            while !Task.isCancelled {
                var isWell = true
                for project in collector.projects.all where !Task.isCancelled {
                    isWell = await sendNews(of: project, &relays[project.name]) && isWell
                }
                try? await pause(isWell ? .seconds(1) : TraceBackend.longestWait)
            }
        }
    }

    private func sendNews(of project: Project, _ relay: inout SpanRelay?) async -> Bool {
        let place: Logger.Metadata = ["project": "\(project.name)"]
        do {
            var current =
                try relay
                ?? SpanRelay(project.store, to: backend, cursorFile: project.spanCursorFile)
            let receipt = try await current.round(ListRequest())
            relay = current
            project.counters.count { $0.sentSpans += receipt }
            if receipt.rejectedCount > 0 {
                logger.warning("waybill: \(receipt.sentence)", metadata: place)
            } else if receipt.acceptedCount > 0 {
                logger.info("\(receipt.sentence)", metadata: place)
            }
            return true
        } catch {
            if !Task.isCancelled { logger.warning("waybill: spans wait: \(error)", metadata: place) }
            return false
        }
    }
}

/// Sends new facts in rounds. A failed round is repeated with the same span IDs, and the backend removes duplicates.
package struct SpanRelay: Sendable {
    private let store: any ExportingStore
    private let backend: TraceBackend
    private let file: URL?
    private var cursor: String?

    /// - Parameter file: `nil` to keep the cursor in memory.
    package init(_ store: some ExportingStore, to backend: TraceBackend, cursorFile file: URL?) throws(WaybillError) {
        self.store = store
        self.backend = backend
        self.file = file
        guard let file, let bytes = try WholeFile.read(file) else { return }
        cursor = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    package mutating func round(_ request: ListRequest) async throws -> SpanReceipt {
        let (backend, total) = (backend, Locked(SpanReceipt()))
        let export = try await store.export(cursor.map { .after($0) } ?? .of(request), as: .otlp)
        try await export.forEachLine { line in
            let receipt = try await backend.send(line)
            total.withLock { $0 += receipt }
        }
        let next = export.cursor
        if let file, next != cursor {
            try WholeFile.write(to: file) { Array("\(next)\n".utf8) }
        }
        cursor = next
        return total.withLock { $0 }
    }
}
#endif
