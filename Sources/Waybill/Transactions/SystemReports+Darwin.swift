#if os(iOS) || os(macOS) || os(visionOS)
import Foundation
import MetricKit
import WaybillCore
import WaybillStore

/// Receives the system's reports of earlier launches.
final class SystemReports: NSObject, MXMetricManagerSubscriber, Sendable {
    private let sources: SourceRegistry

    init(_ sources: SourceRegistry) {
        self.sources = sources
        super.init()
        MXMetricManager.shared.add(self)
    }

    deinit { MXMetricManager.shared.remove(self) }

    func didReceive(_ payloads: [MXDiagnosticPayload]) {
        for payload in payloads {
            let times = [payload.timeStampBegin, payload.timeStampEnd].map { $0.microseconds / 1_000 }.sorted()
            for crash in payload.crashDiagnostics ?? [] {
                guard let end = SourceEnd(reason: crash.terminationReason, signal: crash.signal?.int32Value) else {
                    continue
                }
                // If it fails, the end stays unknown.
                sources.readableSource?.writer.perform { _ = try? $0?.note(end, ofLaunchWithin: times[0]...times[1]) }
            }
        }
    }
}
#endif
