package import WaybillCore

/// Facts that a collector has rejected since it was started, together where source and reason are the same.
///
/// They are kept in memory and are gone with the process: what lasts is the quarantine of their sources. A source that
/// sends the same facts again has them counted again.
package struct RejectedFacts: Sendable, Hashable, Codable, Redactable {
    /// Those of one source for one reason.
    package struct Group: Sendable, Hashable, Codable {
        package var source: GUID
        /// In the words that the source was told.
        package var reason: String
        package var count: Int
        /// The lowest and the highest sequence; nil where none could be read.
        package var first, last: Int64?
        /// Microseconds since 1970 when the first and the last were rejected.
        package var firstMicroseconds, lastMicroseconds: Int64
    }

    /// The one to which something came last in front.
    package private(set) var groups: [Group] = []
    /// Facts of further sources and reasons, where they are too many to be told apart.
    package private(set) var othersCount = 0

    private static let limit = 500

    package init() {}

    /// Adds one, rejected at a time in microseconds since 1970.
    package mutating func add(_ rejection: Rejection, at wall: Int64) {
        if let index = groups.firstIndex(where: { $0.source == rejection.source && $0.reason == rejection.reason }) {
            // Many of one kind come together, so that it mostly is in front already.
            if index > 0 { groups.insert(groups.remove(at: index), at: 0) }
            groups[0].count += 1
            groups[0].first = [groups[0].first, rejection.sequence].compactMap(\.self).min()
            groups[0].last = [groups[0].last, rejection.sequence].compactMap(\.self).max()
            groups[0].lastMicroseconds = wall
        } else {
            groups.insert(
                Group(
                    source: rejection.source, reason: rejection.reason, count: 1, first: rejection.sequence,
                    last: rejection.sequence,
                    firstMicroseconds: wall, lastMicroseconds: wall), at: 0)
            if groups.count > Self.limit { othersCount += groups.removeLast().count }
        }
    }

    /// With every reason put through a redactor.
    package func redacted(by redactor: Redactor) -> RejectedFacts {
        var redacted = self
        for index in groups.indices { redacted.groups[index].reason = redactor.text(groups[index].reason) }
        return redacted
    }
}
