#if Collector
package import WaybillAnalysis
package import WaybillCore
package import WaybillExport
package import WaybillLegacy
package import WaybillReading
package import WaybillSpans
#if ClickHouse
package import WaybillClickHouse
#endif

/// A store that a collector keeps a project in: one in its folder, or in a database that other collectors use, too.
package protocol CollectedStore: ExplorableStore, ExportingStore {
    /// The same, as one token reads it, by its ID: of what reads, each has its share.
    func asked(by token: String?) -> any CollectedStore

    /// Whether sets can be taken in; throws where not.
    func checkWriting() async throws

    /// The names that were recorded, those of these words at least.
    func names(including words: [String]) async throws -> [RecordedName]

    /// Takes in spans that came by OTLP.
    ///
    /// - Parameter sender: The ID of the token that they came with; empty where there is none.
    func add(_ request: TraceRequest, sentBy sender: String) async throws -> SpanVerdict

    /// Gives spans that have waited too long for the one that they are below a part of their own; how many facts came
    /// of it.
    func settleWaitingSpans() async throws -> Int

    /// Takes in a set of version 0.0.1.
    ///
    /// - Parameter digest: SHA-256 of its bytes, which stand for the ID that it has not.
    func add(_ set: LegacySet, digest: [UInt8]) async throws -> Receipt
}

extension SQLiteStore: CollectedStore {
    package func asked(by token: String?) -> any CollectedStore {
        var store = self
        store.asker = token
        return store
    }

    package func names(including words: [String]) async throws -> [RecordedName] {
        try await read { reader in try reader.names(including: words) }
    }
}

#if ClickHouse
/// What numbers its facts by what came before needs one writer, and is a folder's.
extension ClickHouseStore: CollectedStore {
    package func asked(by token: String?) -> any CollectedStore {
        var store = self
        store.asker = token
        return store
    }

    package func add(_ request: TraceRequest, sentBy sender: String) async throws -> SpanVerdict {
        throw Problem.onlyInFolder("Spans by OTLP are")
    }

    package func settleWaitingSpans() async throws -> Int { 0 }

    package func add(_ set: LegacySet, digest: [UInt8]) async throws -> Receipt {
        throw Problem.onlyInFolder("Sets of version 0.0.1 are")
    }
}
#endif
#endif
