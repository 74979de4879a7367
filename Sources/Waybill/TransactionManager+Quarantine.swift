public import Foundation
public import WaybillCore
import WaybillReading
import WaybillStore

// What a collector rejected is kept, and can be looked at, sent again or handed on.
extension TransactionManager {
    /// The facts in quarantine, with the reasons.
    ///
    /// - Parameter limit: How many at most. Default: 1,000.
    /// - Returns: By source, oldest first, and in order of sequence; empty where nothing was rejected.
    /// - Throws: ``WaybillCore/WaybillError`` when the store cannot be read.
    public func quarantined(limit: Int = 1_000) async throws -> [QuarantinedFact] {
        try await read { reader, _ in try reader.quarantined(limit: max(0, limit)) } ?? []
    }

    /// Makes facts pending again that were rejected: the next flush sends them, to a collector that may judge otherwise
    /// by now.
    ///
    /// - Parameter ids: Which; nil: all. Those that are not in quarantine, or no longer in the store, are left alone.
    /// - Returns: How many are pending again.
    /// - Throws: ``WaybillCore/WaybillError`` when the store cannot be written.
    @discardableResult
    public func sendQuarantinedAgain(_ ids: Set<Fact.ID>? = nil) async throws -> Int {
        guard let source = await sources.drainedSource() else { return 0 }
        defer { sources.changes.ring() }
        return try await source.writer.run { _, store in try store.releaseQuarantined(ids) }
    }

    /// Writes the facts in quarantine into a folder, as sets that `waybill import` takes; they stay in quarantine, too.
    ///
    /// Every text is redacted once more on its way out. As every set, they have the secrets by which the collector knows
    /// who speaks; only the user who runs the process may read them.
    ///
    /// - Parameter folder: Made where it is missing; a file is named as those of ``FileTransport``.
    /// - Returns: How many facts; where it is 0, there is no file.
    /// - Throws: ``WaybillCore/WaybillError`` when the store cannot be read, or a file cannot be written.
    @discardableResult
    public func exportQuarantined(to folder: URL) async throws -> Int {
        guard let settings = sources.settings else { return 0 }
        let count = try await read { reader, _ in
            var count = 0
            try reader.export(.quarantine, redactor: settings.redactor, hasProofs: true) { set in
                try FileTransport.write(
                    OutgoingSet(id: set.id, body: set.encoded(), factCount: set.factCount), into: folder)
                count += set.factCount
            }
            return count
        }
        return count ?? 0
    }
}
