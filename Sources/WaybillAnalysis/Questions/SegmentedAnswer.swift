/// An answer over all transactions and, where they are told apart, for each segment.
public struct SegmentedAnswer<Segment: Hashable & Sendable & Codable>: QuestionAnswer {
    /// Over all transactions.
    public var total: Segment
    /// By value, in order; empty where nothing was to be told apart.
    public var segments: [Segment]
    public var whyEmpty: String?
    public var weighed: Weighing?

    /// Makes an answer.
    public init(total: Segment, segments: [Segment], whyEmpty: String? = nil) {
        self.total = total
        self.segments = segments
        self.whyEmpty = whyEmpty
    }
}
