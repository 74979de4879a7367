/// The facts of a share so far, in their order in the set. They supply the members that the next fact omits.
struct FactOrder {
    /// Omitted `sequence`: one more than before.
    var nextSequence: Int64 = 1
    /// Omitted `part`: the latest `begun` or `joined`; `nil` if that one was rejected.
    var part: Int64? = 0
    var useCases: [Int64: Int] = [:]
    /// Omitted `exchange`: the latest `exchange_begun`.
    var exchange: Int64?
    /// Names that facts have beside their codes.
    var names: Set<RecordedName> = []
    var hasUnnumbered = false
    /// The positions of facts whose times are microseconds since 1970.
    var wallIndices: [Int] = []
    private var count = 0

    mutating func note(_ fact: Fact, isNumbered: Bool, isWall: Bool) {
        nextSequence = fact.sequence &+ 1
        hasUnnumbered = hasUnnumbered || !isNumbered
        if isWall { wallIndices.append(count) }
        count += 1
        switch fact.content {
        case .opened(let opened):
            part = fact.sequence
            useCases[fact.sequence] = opened.useCase
        case .exchangeOpened: exchange = fact.sequence
        case .event, .attributesSet, .closed, .exchangeClosed, .unknown: break
        }
    }

    /// A rejected fact has its place in the order, and later facts don't fall to the fact before it.
    mutating func skip(_ kind: String?) {
        nextSequence &+= 1
        switch kind {
        case "begun", "joined": (part, exchange) = (nil, nil)
        case "exchange_begun": exchange = nil
        default: break
        }
    }
}

extension Set<RecordedName> {
    mutating func add(_ name: RecordedName, at start: Int) throws(JSONFailure) {
        guard count < Limits.envelopeItems || contains(name) else {
            throw JSONFailure(.invalid, at: start, "more than \(Limits.envelopeItems) names in one set")
        }
        insert(name)
    }
}

extension JSONReader {
    /// Reads a code, or an object with `code` and `name`.
    mutating func namedUseCase(_ names: inout Set<RecordedName>) throws(JSONFailure) -> Int {
        guard next == UInt8(ascii: "{") else { return try count() }
        var (code, name): (Int?, String?)
        let start = try beginObject()
        while let key = try nextKey() {
            switch key {
            case "code": code = try count()
            case "name": name = try string(limit: Limits.labelLength)
            default: try skipValue()
            }
        }
        let useCase = try required(code, "code", at: start)
        if let name { try names.add(RecordedName(useCase: useCase, name: name), at: start) }
        return useCase
    }
}

package struct RecordedName: Hashable, Sendable {
    /// The name of the events with a user's words, and of their attribute.
    package static let feedback = "feedback"

    package var useCase: Int
    package var event: Int?
    package var name: String

    package init(useCase: Int, event: Int? = nil, name: String) {
        self.useCase = useCase
        self.event = event
        self.name = name
    }
}
