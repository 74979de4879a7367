package import WaybillCore

/// Up to where facts were exported: the next export goes on behind it, and neither repeats nor leaves out any.
///
/// What was received counts by its arrival, whose place is never given twice; what a source recorded into the store
/// itself by its sequence, as facts get there in that order.
package struct ExportCursor: Hashable, Sendable {
    /// The place up to which all arrivals were exported; 0: none. See ``ArrivalPlace``.
    package var arrival: Int64 = 0
    /// The last place of each writer that has one beyond, by writer; empty for a store in one file.
    package var writers: [Int64: Int64] = [:]
    /// The last sequence of each own source that has recorded anything.
    package var recorded: [GUID: Int64] = [:]

    package init() {}

    /// Whether an arrival was exported.
    package func includes(_ place: Int64) -> Bool {
        place <= arrival || ArrivalPlace.writer(of: place).map { place <= writers[$0] ?? 0 } ?? false
    }

    /// Goes on to what one state of a store has.
    ///
    /// - Parameters:
    ///   - last: The last place of all.
    ///   - places: Those beyond ``arrival``, of which those of the hour before the last are looked at.
    package mutating func advance(to last: Int64, over places: [Int64]) {
        guard ArrivalPlace.writer(of: last) != nil else {
            (arrival, writers) = (last, [:])
            return
        }
        arrival = max(arrival, last - ArrivalPlace.perHour)
        for place in places {
            if let writer = ArrivalPlace.writer(of: place) { writers[writer] = max(writers[writer] ?? 0, place) }
        }
        writers = writers.filter { $0.value > arrival }
    }
}

extension ExportCursor: CustomStringConvertible {
    /// Opaque to callers; of characters that need no escape in a URL.
    package var description: String {
        let others = writers.values.sorted().map { "~\($0)" }
        let own = recorded.sorted { $0.key < $1.key }.map { "~\($0.key).\($0.value)" }
        return "\(arrival)\((others + own).joined())"
    }

    /// - Throws: Where the text is not one that an export gave.
    package init(_ text: String) throws(WaybillError) {
        let malformed = WaybillError(
            .format, "The cursor is not one that an export gave. Leave it out to export everything.")
        let items = text.split(separator: "~", omittingEmptySubsequences: false)
        guard let first = items.first, let arrival = Int64(first), arrival >= 0 else { throw malformed }
        self.arrival = arrival
        for item in items.dropFirst() {
            if let place = Int64(item), place > arrival, let writer = ArrivalPlace.writer(of: place) {
                writers[writer] = place
                continue
            }
            let pair = item.split(separator: ".")
            guard pair.count == 2, let source = GUID(pair[0]), let sequence = Int64(pair[1]), sequence >= 0 else {
                throw malformed
            }
            recorded[source] = sequence
        }
    }
}
