#if Collector
public import Foundation
public import Logging
public import ServiceLifecycle
public import WaybillCore
package import WaybillExport
package import WaybillQueries

/// Sends what a collector receives to a tracing backend, as spans by OTLP/HTTP: once a second what is new, until it is
/// told to stop.
///
/// Each project has a file in the collector's folder, e.g. `waybill.otlp-cursor`, that says up to where the backend has
/// taken everything. So a backend that is away delays spans and loses none, and neither does an end of the process at
/// any moment: what was under way then is sent again, under the same span IDs. Add it to the services of an
/// application.
public struct SpanService: Service {
    private let collector: Collector
    private let backend: TraceBackend
    private let logger: Logger
    private let pause: @Sendable (Duration) async throws -> Void

    /// Makes the service.
    ///
    /// - Parameters:
    ///   - collector: What it receives is sent, of every project.
    ///   - backend: Where to; without a path, to `/v1/traces` there.
    ///   - headers: Sent with each request, e.g. for authorization. Default: none.
    ///   - logger: Told what the backend rejects, and when it is away.
    /// - Throws: `.setting` for what is no HTTP address.
    public init(_ collector: Collector, to backend: URL, headers: [String: String] = [:], logger: Logger)
        throws(WaybillError)
    {
        self.init(collector, to: try TraceBackend(backend, headers: headers), logger: logger)
    }

    /// - Parameter pause: Waits between rounds.
    package init(
        _ collector: Collector, to backend: TraceBackend, logger: Logger,
        pause: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.collector = collector
        self.backend = backend
        self.logger = logger
        self.pause = pause
    }

    /// Runs until the application stops.
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

    /// One round; false where it broke off, and is to be made again.
    private func sendNews(of project: Project, _ relay: inout SpanRelay?) async -> Bool {
        let place: Logger.Metadata = ["project": "\(project.name)"]
        do {
            var current =
                try relay
                ?? SpanRelay(project.store, to: backend, cursorFile: project.spanCursorFile)
            let receipt = try await current.round(ListRequest())
            relay = current
            project.counters.count(receipt)
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

/// Sends spans to a backend, in rounds that go on where the one before ended.
///
/// Where a round ended is noted when the backend has taken all of it. What was under way when a round broke off is sent
/// again, under the same span IDs: telling the two apart is the backend's.
package struct SpanRelay: Sendable {
    private let store: any ExportingStore
    private let backend: TraceBackend
    private let file: URL?
    private var cursor: String?

    /// - Parameter file: Holds the cursor; nil: it is forgotten with the process.
    /// - Throws: `.setting` where the file is there and cannot be read.
    package init(_ store: some ExportingStore, to backend: TraceBackend, cursorFile file: URL?) throws(WaybillError) {
        self.store = store
        self.backend = backend
        self.file = file
        guard let file, let bytes = try WholeFile.read(file) else { return }
        cursor = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Sends what is new.
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
