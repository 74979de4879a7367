import WaybillCore

/// Where a page of a list ended: the order of lists is by time of beginning, and by the part's row where times are equal.
struct ListCursor: Hashable {
    var listed: Int
    var source: Int
    var sequence: Int
}

extension ListCursor: CustomStringConvertible {
    /// Opaque to callers.
    var description: String { "\(listed).\(source).\(sequence)" }

    /// - Throws: Where the text is not one that a list gave.
    init(_ text: String) throws(WaybillError) {
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 3, let listed = numbers[0], let source = numbers[1], let sequence = numbers[2] else {
            throw WaybillError(.format, "The cursor is not one that a list gave. Leave it out to start with the newest transactions.")
        }
        self.init(listed: listed, source: source, sequence: sequence)
    }
}
