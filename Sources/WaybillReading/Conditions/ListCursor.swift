package import WaybillCore

/// Where a page of a list ended: lists go by time of beginning or by duration, and by the part's row where those are
/// equal.
package struct ListCursor: Hashable {
    package var order = TransactionFilter.Order.newest
    /// The time or the duration, in microseconds.
    package var listed: Int64
    package var source: Int64
    package var sequence: Int64

    /// Those that a time or a duration can have, or what stands for none.
    package static let places = -Limits.largestInteger...Limits.largestInteger
}

extension ListCursor: CustomStringConvertible {
    /// Opaque to callers.
    package var description: String { "\(order == .newest ? "" : "\(order.rawValue).")\(listed).\(source).\(sequence)" }

    /// - Throws: Where the text is not one that a list gave.
    package init(_ text: String) throws(WaybillError) {
        var words = text.split(separator: ".", omittingEmptySubsequences: false)
        let order = words.first.flatMap { TransactionFilter.Order(rawValue: String($0)) }
        if order != nil { words.removeFirst() }
        let numbers = words.map { Int64($0) }
        // It may be made up: what is calculated with stays in range.
        guard numbers.count == 3, let listed = numbers[0], Self.places.contains(listed), let source = numbers[1],
            let sequence = numbers[2]
        else {
            throw WaybillError(
                .format, "The cursor is not one that a list gave. Leave it out to start with the newest transactions.")
        }
        self.init(order: order ?? .newest, listed: listed, source: source, sequence: sequence)
    }

    /// - Throws: Where the text is not one that a list in this order gave.
    package init(_ text: String, of order: TransactionFilter.Order) throws(WaybillError) {
        try self.init(text)
        guard self.order == order else {
            throw WaybillError(
                .format, "The cursor is of a list in another order. Leave it out to start at the beginning.")
        }
    }
}
