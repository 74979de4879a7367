/// How large a journal is, and how it is written.
package struct JournalSize: Sendable {
    /// A power of two, as is the next.
    package var segmentCount: Int
    package var segmentByteCount: Int
    /// Whether the file is mapped; nil: where that is safe.
    package var isMapped: Bool?

    /// 8 segments of 256 KiB, room for about 50,000 events, unless told otherwise.
    package init(segmentCount: Int = 8, segmentByteCount: Int = 256 * 1024, isMapped: Bool? = nil) {
        self.segmentCount = segmentCount
        self.segmentByteCount = segmentByteCount
        self.isMapped = isMapped
    }
}
