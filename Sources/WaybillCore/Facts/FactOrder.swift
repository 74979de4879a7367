/// The facts of a share so far, in their order in the set: they supply the members that the next fact omits, so that
/// a person can write a set by hand.
struct FactOrder {
    /// Omitted `sequence`: one more than before.
    var nextSequence: Int64 = 1
    /// Omitted `part`: the latest `begun` or `joined`; `nil` if that one was rejected.
    var part: Int64? = 0
    /// The use cases of parts, by the sequence of their opening.
    var useCases: [Int64: Int] = [:]
    /// Omitted `exchange`: the latest `exchange_begun`.
    var exchange: Int64?
    /// Names that facts have beside their codes.
    var names: Set<RecordedName> = []
    /// Whether a fact omitted its sequence.
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
        let start = offset
        var (code, name): (Int?, String?)
        try beginObject()
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

    /// Reads a date and time of RFC 3339 with at most 9 decimals, as microseconds since 1970.
    mutating func date() throws(JSONFailure) -> Int64 {
        let text = try text()
        guard let date = Self.date(text.string.utf8) else {
            throw invalid(text, "a time like \"2026-11-25T18:57:59.432Z\" was expected (RFC 3339)")
        }
        return date
    }

    private static func date(_ text: String.UTF8View) -> Int64? {
        let bytes = Array(text)
        guard (20...35).contains(bytes.count) else { return nil }
        func number(_ range: Range<Int>, in allowed: ClosedRange<Int>) -> Int? {
            guard range.upperBound <= bytes.count, bytes[range].allSatisfy(\.isDigit) else { return nil }
            let value = bytes[range].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
            return allowed.contains(value) ? value : nil
        }
        guard let year = number(0..<4, in: 1970...2200), let month = number(5..<7, in: 1...12),
            let day = number(8..<10, in: 1...31), let hour = number(11..<13, in: 0...23),
            let minute = number(14..<16, in: 0...59), let second = number(17..<19, in: 0...60),
            bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"), bytes[10] | 0x20 == UInt8(ascii: "t"),
            bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":")
        else { return nil }
        var (place, microseconds): (Int, Int64) = (19, 0)
        if bytes[place] == UInt8(ascii: ".") {
            let decimals = bytes[(place + 1)...].prefix { $0.isDigit }
            guard (1...9).contains(decimals.count) else { return nil }
            place += 1 + decimals.count
            let digits = decimals.prefix(6).map { Int64($0 - UInt8(ascii: "0")) }
            microseconds = (digits + Array(repeating: 0, count: 6 - digits.count)).reduce(0) { $0 * 10 + $1 }
        }
        guard place < bytes.count else { return nil }
        var offset = 0
        if bytes[place] | 0x20 == UInt8(ascii: "z") {
            guard place + 1 == bytes.count else { return nil }
        } else {
            guard [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(bytes[place]), place + 6 == bytes.count,
                let hours = number(place + 1..<place + 3, in: 0...23), bytes[place + 3] == UInt8(ascii: ":"),
                let minutes = number(place + 4..<place + 6, in: 0...59)
            else { return nil }
            offset = (hours * 60 + minutes) * (bytes[place] == UInt8(ascii: "-") ? -60 : 60)
        }
        // Days since 1970 by counting years from March: howardhinnant.github.io/date_algorithms.html.
        let (shifted, march) = (month <= 2 ? year - 1 : year, (month + 9) % 12)
        let length = [
            31, year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31,
        ]
        guard day <= length[month - 1] else { return nil }
        let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + (153 * march + 2) / 5 + day - 719_469
        let minutes = (Int64(days) * 24 + Int64(hour)) * 60 + Int64(minute)
        return (minutes * 60 + Int64(second - offset)) * 1_000_000 + microseconds
    }
}

package struct RecordedName: Hashable, Sendable {
    package var useCase: Int
    package var event: Int?
    package var name: String

    package init(useCase: Int, event: Int? = nil, name: String) {
        self.useCase = useCase
        self.event = event
        self.name = name
    }
}
