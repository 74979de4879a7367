package import WaybillCore
import WaybillExport
import WaybillQueries

extension DeliveryPage {
    var quarantine: HTML {
        "<section class=\"panel wide\"><h2>Quarantine</h2>\(kept)\(legacy)\(rejected)</section>\n"
    }

    // MARK: Here

    private var kept: HTML {
        guard state.quarantinedCount > 0 else { return "<p class=why>\(whyNone)</p>" }
        let more = state.quarantinedCount - state.quarantine.reduce(0) { $0 + $1.count }
        let rest: HTML = "<p class=why>And \(Words.count(more, "more fact")): the file has them.</p>"
        return """
            <p>\(Words.count(state.quarantinedCount, "fact")) that a collector rejected. They block nothing, and are kept until somebody sends \
            them again. <a class=copier download href="delivery/\(DeliveryFile.quarantine.rawValue)">JSON</a></p>
            <ul class=causes>\(state.quarantine.map(group))</ul>\(rest, if: more > 0)
            """
    }

    private var whyNone: String {
        guard let own = state.own else {
            return collected == nil
                ? "What is received here has no quarantine: a rejected fact stays with its source, and a collector that runs tells of it."
                : "What this collector rejects stays in the quarantine of its source."
        }
        return own.deliveredCount == 0
            ? "Nothing is in quarantine: nothing has been delivered from here yet."
            : "Nothing is in quarantine: every set that went out was taken."
    }

    private func group(_ group: DeliveryState.QuarantineGroup) -> HTML {
        let sample: HTML =
            if let fact = group.sample {
                "<p>The first of them:</p>\(JSONTree.html(QuarantineJSON.text(fact)) ?? "")"
            } else {
                "<p>The fact itself is no longer here, or not among the first that are shown.</p>"
            }
        return """
            <li class=failed><details><summary><b>\(group.reason)</b> <span>\(Words.count(group.count, "fact")), \
            \(sequences(group.first, group.last))</span> <span>\(group.app.isEmpty ? "source" : group.app)</span> \
            \(times(group.firstMicroseconds, group.lastMicroseconds))</summary>
            <p>From <a href="sources/\(group.source.description)">source \(group.source.description)</a></p>\(sample)</details>

            """
    }

    // MARK: At a collector

    private var rejected: HTML {
        guard let collected else { return "" }
        guard collected.rejected > 0 else {
            return "<p class=why>Nothing was rejected: every set that came was taken.</p>"
        }
        let more = collected.rejections.othersCount
        let rest: HTML = "<p class=why>And \(Words.count(more, "more fact")) of further sources and reasons.</p>"
        return """
            <p>\(Words.count(collected.rejected, "fact")) rejected since this collector was started. \
            <a class=copier download href="delivery/\(DeliveryFile.rejections.rawValue)">JSON</a></p>
            <ul class=causes>\(collected.rejections.groups.prefix(DeliveryState.groupLimit).map(rejection))</ul>\(rest, if: more > 0)
            """
    }

    private func rejection(_ group: RejectedFacts.Group) -> HTML {
        let place = group.first.map { sequences($0, group.last ?? $0) } ?? "without a readable sequence"
        return """
            <li class=failed><p><b>\(group.reason)</b> <span>\(Words.count(group.count, "fact")), \(place)</span> \
            <span><a href="sources/\(group.source.description)">source \(group.source.supportCode.description)</a></span> \
            \(times(group.firstMicroseconds, group.lastMicroseconds))</p>

            """
    }

    private func sequences(_ first: Int64, _ last: Int64) -> String {
        first == last ? "sequence \(first)" : "sequences between \(first) and \(last)"
    }

    private func times(_ first: Int64, _ last: Int64) -> HTML {
        let until: HTML = " to \(HTML.moment(last, .dateAndTime, in: frame.timeZone))"
        return "<span>\(HTML.moment(first, .dateAndTime, in: frame.timeZone))\(until, if: first != last)</span>"
    }

    /// Unreadable transactions from sets of version 0.0.1, whose senders keep no copy.
    private var legacy: HTML {
        guard state.legacyQuarantinedCount > 0 else { return "" }
        let more = state.legacyQuarantinedCount - state.legacyQuarantine.count
        let rest: HTML =
            "<p class=why>And \(Words.count(more, "more transaction")): the table legacy_quarantine has them.</p>"
        return """
            <p>\(Words.count(state.legacyQuarantinedCount, "transaction")) of sets 0.0.1 that could not be read. What else was in those sets was \
            taken, and their senders keep nothing: it is here alone.</p>
            <ul class=causes>\(state.legacyQuarantine.map(entry))</ul>\(rest, if: more > 0)
            """
    }

    private func entry(_ entry: LegacyQuarantined) -> HTML {
        let time = WallTime(entry.receivedMicroseconds, in: frame.timeZone)
        return """
            <li class=failed><details><summary><b>\(entry.reason)</b> <span>\(entry.transaction?.description ?? "without a readable ID")</span> \
            <time>\(time.date) \(String(time.time.prefix(8)))</time></summary>\(JSONTree.html(entry.json) ?? "<pre>\(entry.json)</pre>")</details>

            """
    }
}

package enum DeliveryFile: String, CaseIterable, Sendable {
    case quarantine = "quarantine.json"
    case rejections = "rejections.json"
}

/// JSON of facts according to `Schemas/fact.v1.schema.json`.
package enum QuarantineJSON {
    package static func bytes(_ quarantined: Redacted<[QuarantinedFact]>) -> [UInt8] {
        var writer = JSONWriter()
        writer.objects(quarantined.value) { entry, writer in
            writer.member("source", entry.id.source)
            writer.member("sequence", entry.id.sequence)
            writer.member("reason", entry.reason)
            writer.member("rejected_at_us", entry.rejectedAtMicroseconds)
            if let fact = entry.fact {
                writer.key("fact")
                fact.write(to: &writer)
            }
        }
        return writer.bytes
    }

    static func text(_ fact: Fact) -> String {
        var writer = JSONWriter()
        fact.write(to: &writer)
        return writer.text
    }
}

/// Facts that this collector has rejected since its start. Their sources keep them in quarantine.
package struct RejectedFacts: Sendable, Hashable, Codable, Redactable {
    package struct Group: Sendable, Hashable, Codable {
        package var source: GUID
        package var reason: String
        package var count: Int
        /// The lowest and the highest sequence; `nil` if none was readable.
        package var first, last: Int64?
        /// The times of the first and the last rejection, in microseconds since 1970.
        package var firstMicroseconds, lastMicroseconds: Int64
    }

    /// The most recently changed group is first.
    package private(set) var groups: [Group] = []
    /// The number of facts in groups beyond the limit.
    package private(set) var othersCount = 0

    private static let limit = 500

    package init() {}

    package mutating func add(_ rejection: Receipt.Rejection, at wall: Int64) {
        if let index = groups.firstIndex(where: { $0.source == rejection.source && $0.reason == rejection.reason }) {
            // Rejections of one kind arrive together, which makes this move rare.
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

    package mutating func redact(by redactor: Redactor) {
        for index in groups.indices { groups[index].reason.redact(by: redactor) }
    }
}
