/// Some rows of a list, and where the next ones start.
public struct RecordPage<Row: Sendable & Codable>: Sendable, Codable {
    /// In the order of the list.
    public var rows: [Row]
    /// Hand it back for the rows that follow; nil when there are none.
    public var next: String?
    /// One sentence on why there are no rows; nil where there are some, or where it was not asked for.
    public var whyEmpty: String?
    /// Hand it back for what has changed since; nil where it was not asked for.
    public var position: String?
    /// One sentence on what was not looked at, where rows may be missing; nil where everything was looked at.
    public var note: String?
    /// How far a page got that ended early; nil where it is full or the list at its end. Not part of its JSON.
    package var progress: SearchProgress?

    private enum CodingKeys: CodingKey { case rows, next, whyEmpty, position, note }

    /// Makes a page.
    public init(rows: [Row], next: String?, whyEmpty: String? = nil, position: String? = nil, note: String? = nil) {
        self.rows = rows
        self.next = next
        self.whyEmpty = whyEmpty
        self.position = position
        self.note = note
    }
}

/// How far a page has got that is neither full nor at the end of its list.
package enum SearchProgress: Sendable, Hashable {
    /// Looked at so many, back to the one that has this place in the list; ``RecordPage/next`` goes on there.
    case lookedAt(Int, through: Place)
    /// Those whose ID or support code the text is; ``RecordPage/next`` begins to look for others that mention it.
    case foundByID

    /// What a list is in the order of.
    package enum Place: Sendable, Hashable {
        /// Microseconds since 1970.
        case time(Int64)
        /// Microseconds; nil: none.
        case duration(Int64?)
    }
}
