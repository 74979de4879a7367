#if ClickHouse
import WaybillCore
import WaybillStore

/// The changes of a write, in a form that can be stored and replayed.
///
/// Facts never change, and everything else is given as its complete new state. So changes can be replayed twice, or in
/// another order.
struct StoreChanges: Sendable {
    var books: [SourceBooks] = []
    var names: [NameChange] = []
    var tombstones: [Tombstone] = []
    var removedSources: [GUID] = []
    /// The beginnings of transactions that are new in lists, or moved. `Int64.max` if a clock is so far ahead that the
    /// place depends on when the source is heard.
    var begun: [(transaction: GUID, at: Int64)] = []
    var spans: [PlacedSpan] = []
}

struct SourceBooks: Sendable {
    /// The source without names or proofs, and the facts that arrived.
    var share: TransactionSet.Share
    /// In microseconds since 1970.
    var heard: Int64
    /// The SHA-256 of the source's secret; `nil` if it has shown none.
    var proofDigest: [UInt8]?
    /// The SHA-256 of its installation's secret; `nil` if none was shown.
    var installationDigest: [UInt8]?
    var arrivals: [Arrival] = []
    /// Received facts that retention deleted.
    var retired = SequenceRanges()
    var transactions: [Int64: PlacedPart] = [:]
    var gone = SequenceRanges()

    /// Consecutive facts that arrived together.
    struct Arrival: Sendable, Equatable {
        /// The ID among all arrivals, which is never reused; 0 if it has none yet.
        var id: Int64 = 0
        var first: Int64
        var last: Int64
        /// In microseconds since 1970.
        var received: Int64

        /// A damaged one has its first sequence.
        var range: ClosedRange<Int64> { first...max(first, last) }
    }
}

/// An erased installation or transaction, whose later facts are refused.
struct Tombstone: Sendable, Equatable {
    var id: GUID
    /// Whether it was erased with its installation; another source that began it keeps it.
    var isWithInstallation: Bool
    var at: Int64
    /// The SHA-256 of an installation's secret, which still tells it from others.
    var proofDigest: [UInt8]?
}

struct NameChange: Sendable, Equatable {
    var useCase: Int
    /// -1 for the use case itself.
    var event: Int
    var app: String
    var appVersion: String
    var name: String
    var isRemoved: Bool
}

struct PlacedSpan: Sendable {
    var transaction: GUID
    var source: GUID
    var span: SpanRows.Span
    /// In microseconds since 1970.
    var received: Int64
    var hasWaited = false
    var isGone = false
    /// Whether no span of its transaction is left.
    var isLast = false
}
#endif
