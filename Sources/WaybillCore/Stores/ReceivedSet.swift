public import Foundation

/// A set that came in, and when: redacted here, too, by whichever app it was sent.
public struct ReceivedSet: Sendable {
    package let set: DecodedSet
    /// Since 1970.
    package var atMicroseconds: Int64

    package init(set: Redacted<DecodedSet>, atMicroseconds: Int64) {
        self.set = set.value
        self.atMicroseconds = atMicroseconds
    }

    /// A set that came in at a time; secrets are taken out of it by the well-known names and shapes.
    public init(_ set: TransactionSet, received: Date) {
        self.init(set: Redactor().redacted(DecodedSet(set: set)), atMicroseconds: received.microseconds)
    }

    /// What could be read of it.
    public var content: TransactionSet { self.set.set }
    /// The facts of it that could not be read: the receipt has them among its own.
    public var rejections: [Rejection] { self.set.rejections }
    /// When it came.
    public var received: Date { Date(microseconds: atMicroseconds) }
}
