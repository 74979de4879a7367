/// A part whose opening is in an earlier set, as a set that continues it names it: so each of its facts can be placed
/// by itself, without waiting for that set.
public struct ContinuedPart: Hashable, Sendable {
    /// The sequence of its opening.
    public var part: Int64
    /// The transaction that it is a part of.
    public var transaction: GUID
    /// The transaction's use case, by its code.
    public var useCase: Int

    /// Makes one.
    public init(part: Int64, transaction: GUID, useCase: Int) {
        self.part = part
        self.transaction = transaction
        self.useCase = useCase
    }
}

extension TransactionSet.Share {
    /// The parts that its facts belong to and that it does not open, in order.
    package var earlierParts: [Int64] {
        var (opened, earlier): (Set<Int64>, Set<Int64>) = ([], [])
        for fact in facts where fact.part > 0 {
            if fact.part == fact.sequence { opened.insert(fact.part) } else { earlier.insert(fact.part) }
        }
        return earlier.subtracting(opened).sorted()
    }
}

extension JSONReader {
    /// - Parameter room: How many more the set may have.
    mutating func continuedParts(_ room: inout Int) throws(JSONFailure) -> [ContinuedPart] {
        var parts: [ContinuedPart] = []
        try array(of: "continued parts", &room) { reader, start throws(JSONFailure) in
            var part: Int64?
            var transaction: GUID?
            var useCase: Int?
            while let key = try reader.nextKey() {
                switch key {
                case "part": part = try reader.integer(in: 1...Limits.largestInteger)
                case "transaction": transaction = try reader.guid()
                case "use_case": useCase = try reader.count()
                default: try reader.skipValue()
                }
            }
            parts.append(
                ContinuedPart(
                    part: try reader.required(part, "part", at: start),
                    transaction: try reader.required(transaction, "transaction", at: start),
                    useCase: try reader.required(useCase, "use_case", at: start)))
        }
        return parts
    }
}
