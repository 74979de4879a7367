/// A set that came in, and when.
package struct ReceivedSet: Sendable {
    package var set: DecodedSet
    /// Since 1970.
    package var atMicroseconds: Int

    package init(set: DecodedSet, atMicroseconds: Int) {
        self.set = set
        self.atMicroseconds = atMicroseconds
    }
}
