import WaybillCore

extension [Fact] {
    /// The sequences of all of them.
    ///
    /// By places: each fact that is taken out of the list to be looked at is copied.
    package var sequences: SequenceRanges { SequenceRanges(each: indices.lazy.map { self[$0].sequence }) }

    /// The latest time of any of them; nil where there are none.
    package var latestMicroseconds: Int64? { indices.lazy.map { self[$0].atMicroseconds }.max() }
}
