/// A set that came in, and when: redacted here, too, by whichever app it was sent.
package struct ReceivedSet: Sendable {
    package let set: DecodedSet
    /// Since 1970.
    package var atMicroseconds: Int

    package init(set: Redacted<DecodedSet>, atMicroseconds: Int) {
        self.set = set.value
        self.atMicroseconds = atMicroseconds
    }
}
