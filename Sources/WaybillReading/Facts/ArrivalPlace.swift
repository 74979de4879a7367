/// The place of an arrival among all, `arrivals.id`.
///
/// A store in one file counts arrivals from 1. Where several processes write to one database each gives places of its
/// own: times, in units of 100 microseconds since 2026, with the writer in the lowest bits. Those of one writer come in
/// their order; one that a writer has given may come after a later one of another. All are below 2^53, as whole numbers
/// of a store are.
package enum ArrivalPlace {
    /// How many writers can be told apart.
    package static let writerCount: Int64 = 1 << 9
    /// How many places there are in an hour: so long at most may one that was given take to come.
    package static let perHour: Int64 = 36_000_000 * writerCount
    /// The first that counts as given by one of several writers; a store in one file never comes so far.
    package static let first: Int64 = 1 << 40

    /// Who has given it; nil: it was counted.
    package static func writer(of place: Int64) -> Int64? { place < first ? nil : place % writerCount }
}
