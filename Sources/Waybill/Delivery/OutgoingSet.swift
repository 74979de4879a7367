public import WaybillCore

/// A set on its way out, encoded, with what a transport has to know of it.
public struct OutgoingSet: Sendable, Hashable {
    /// The set's own ID, which the receipt has to name.
    public let id: GUID
    /// The set as JSON, to be sent as it is.
    public let body: [UInt8]
    /// How many facts are in it: accepted, known and rejected ones of the receipt together.
    public let factCount: Int
    /// What `body` is, for a `Content-Type`.
    public let mediaType: String
    /// The openings of parts that it goes on with, which earlier sets have delivered: for formats that name the
    /// transaction with each event.
    package var openings: [Fact.ID: Fact.Opened] = [:]

    /// Makes a set of what is encoded already; of version 1 of the format unless `mediaType` says otherwise.
    public init(id: GUID, body: [UInt8], factCount: Int, mediaType: String = TransactionSet.mediaType) {
        self.id = id
        self.body = body
        self.factCount = factCount
        self.mediaType = mediaType
    }
}
