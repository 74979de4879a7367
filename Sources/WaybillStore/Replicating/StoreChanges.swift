package import WaybillCore

/// What sets, an erasure or a retirement change of a store, in a form that can be kept elsewhere and replayed.
///
/// A fact is written once and never changed; of everything else here the whole new state is told, so that what is
/// replayed twice, or in another order, gives the same rows.
package struct StoreChanges: Sendable {
    /// Of each source of which anything changed.
    package var books: [SourceBooks] = []
    /// What is not taken in any more.
    package var tombstones: [Tombstone] = []
    /// Sources of an installation that was erased: nothing of them stays.
    package var removedSources: [GUID] = []
    /// Names of codes that came, or went.
    package var names: [NameChange] = []

    package init(names: [NameChange] = [], tombstones: [Tombstone] = []) {
        (self.names, self.tombstones) = (names, tombstones)
    }

    /// Whether nothing changed.
    package var isEmpty: Bool { books.isEmpty && tombstones.isEmpty && removedSources.isEmpty && names.isEmpty }
}

/// What is booked of one source, and its facts.
package struct SourceBooks: Sendable {
    /// The source with its clocks, how it ended, what it has recorded and given up; with neither names nor proofs. Its
    /// facts are those that arrived.
    package var share: TransactionSet.Share
    /// When it was last heard of, in microseconds since 1970.
    package var heard: Int64
    /// SHA-256 of the secret of the source; nil: it has shown none.
    package var proofDigest: [UInt8]?
    /// SHA-256 of the secret of its installation; nil: none was shown.
    package var installationDigest: [UInt8]?
    /// What arrived, as far as it is new.
    package var arrivals: [Arrival]
    /// What was received and taken away again to keep within limits.
    package var retired: SequenceRanges
    /// The transactions of the parts that facts belong to, as far as they are known.
    package var transactions: [Int64: PlacedPart]
    /// Facts whose rows went: they were erased or retired.
    package var gone = SequenceRanges()

    package init(
        _ share: TransactionSet.Share, heard: Int64, proofDigest: [UInt8]? = nil, installationDigest: [UInt8]? = nil,
        arrivals: [Arrival] = [], retired: SequenceRanges = SequenceRanges(), transactions: [Int64: PlacedPart] = [:]
    ) {
        self.share = share
        self.heard = heard
        self.proofDigest = proofDigest
        self.installationDigest = installationDigest
        self.arrivals = arrivals
        self.retired = retired
        self.transactions = transactions
    }

    /// Facts in a row that came together.
    package struct Arrival: Sendable, Hashable {
        /// The place among all arrivals, which is never given twice; 0: it has none yet.
        package var id: Int64
        package var first: Int64
        package var last: Int64
        /// In microseconds since 1970.
        package var received: Int64

        package init(id: Int64 = 0, first: Int64, last: Int64, received: Int64) {
            (self.id, self.first, self.last, self.received) = (id, first, last, received)
        }
    }

    /// What a part belongs to.
    package struct PlacedPart: Sendable, Hashable {
        package var transaction: GUID
        package var useCase: Int

        package init(transaction: GUID, useCase: Int) { (self.transaction, self.useCase) = (transaction, useCase) }
    }
}

/// An installation or a transaction of which nothing more is taken in.
package struct Tombstone: Sendable, Hashable {
    package var id: GUID
    /// Whether it is a transaction that went with the installation that began it: who else began it keeps it.
    package var isWithInstallation: Bool
    /// In microseconds since 1970.
    package var at: Int64
    /// Of an installation, SHA-256 of its secret, by which others are still told from it; nil: it has shown none.
    package var proofDigest: [UInt8]?

    package init(id: GUID, isWithInstallation: Bool, at: Int64, proofDigest: [UInt8]? = nil) {
        (self.id, self.isWithInstallation, self.at) = (id, isWithInstallation, at)
        self.proofDigest = proofDigest
    }
}

/// What a version of an app calls a code, or does no longer.
package struct NameChange: Sendable, Hashable {
    package var useCase: Int
    /// -1: the use case itself.
    package var event: Int
    package var app: String
    package var appVersion: String
    package var name: String
    package var isRemoved: Bool

    package init(useCase: Int, event: Int, app: String, appVersion: String, name: String, isRemoved: Bool) {
        (self.useCase, self.event, self.app, self.appVersion) = (useCase, event, app, appVersion)
        (self.name, self.isRemoved) = (name, isRemoved)
    }
}
