package import WaybillCore

/// Up to where facts were exported: the next export goes on behind it, and neither repeats nor leaves out any.
///
/// What was received counts by its arrival, whose number is never given twice; what a source recorded into the store
/// itself by its sequence, as facts get there in that order.
package struct ExportCursor: Hashable, Sendable {
    /// The last `arrivals.id`; 0: none.
    package var arrival: Int64 = 0
    /// The last sequence of each own source that has recorded anything.
    package var recorded: [GUID: Int64] = [:]

    package init() {}
}

extension ExportCursor: CustomStringConvertible {
    /// Opaque to callers; of characters that need no escape in a URL.
    package var description: String {
        let own = recorded.sorted { $0.key < $1.key }.map { "~\($0.key).\($0.value)" }
        return "\(arrival)\(own.joined())"
    }

    /// - Throws: Where the text is not one that an export gave.
    package init(_ text: String) throws(WaybillError) {
        let malformed = WaybillError(
            .format, "The cursor is not one that an export gave. Leave it out to export everything.")
        let items = text.split(separator: "~", omittingEmptySubsequences: false)
        guard let first = items.first, let arrival = Int64(first), arrival >= 0 else { throw malformed }
        self.arrival = arrival
        for item in items.dropFirst() {
            let pair = item.split(separator: ".")
            guard pair.count == 2, let source = GUID(pair[0]), let sequence = Int64(pair[1]), sequence >= 0 else {
                throw malformed
            }
            recorded[source] = sequence
        }
    }
}
