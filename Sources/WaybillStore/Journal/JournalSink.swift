import WaybillCore

/// A destination of a record's words: one conformer counts them, and another writes them into reserved room.
protocol JournalSink {
    mutating func word(_ value: UInt64)
    mutating func text(_ text: String)
}

extension JournalSink {
    mutating func integer(_ value: Int64) { word(UInt64(bitPattern: value)) }
    @inline(__always)
    mutating func integer(_ value: Int) { integer(Int64(value)) }

    mutating func optional(_ value: Int64?) {
        word(value == nil ? 0 : 1)
        if let value { integer(value) }
    }

    mutating func optional(_ value: Int?) { optional(value.map { Int64($0) }) }

    mutating func optional(_ text: String?) {
        word(text == nil ? 0 : 1)
        if let text { self.text(text) }
    }

    mutating func optional(_ guid: GUID?) {
        word(guid == nil ? 0 : 1)
        guard let guid else { return }
        word(guid.high)
        word(guid.low)
    }
}

struct JournalWordCounter: JournalSink {
    private(set) var count = 0

    mutating func word(_ value: UInt64) { count += 1 }

    mutating func text(_ text: String) { count += 1 + Self.words(text.utf8.count) }

    static func words(_ byteCount: Int) -> Int { (byteCount + 7) / 8 }
}

struct JournalWordWriter: JournalSink {
    private var next: UnsafeMutablePointer<UInt64>

    /// `start` needs room for as many words as ``JournalWordCounter`` counted.
    init(at start: UnsafeMutablePointer<UInt64>) { next = start }

    mutating func word(_ value: UInt64) {
        next.pointee = value
        next += 1
    }

    mutating func text(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            word(UInt64(bytes.count))
            let words = JournalWordCounter.words(bytes.count)
            guard words > 0, let start = bytes.baseAddress else { return }
            next[words - 1] = 0  // what the last bytes leave of the last word
            UnsafeMutableRawPointer(next).copyMemory(from: start, byteCount: bytes.count)
            next += words
        }
    }
}

struct JournalWordReader {
    /// Words are missing or wrong.
    struct Invalid: Error {}

    private let words: UnsafeBufferPointer<UInt64>
    private var index = 0

    init(_ words: UnsafeBufferPointer<UInt64>) { self.words = words }

    var isAtEnd: Bool { index == words.count }

    mutating func word() throws(Invalid) -> UInt64 {
        guard index < words.count else { throw Invalid() }
        defer { index += 1 }
        return words[index]
    }

    mutating func integer() throws(Invalid) -> Int64 { Int64(bitPattern: try word()) }

    mutating func bool() throws(Invalid) -> Bool { try word() == 1 }

    mutating func int() throws(Invalid) -> Int {
        guard let value = Int(exactly: try integer()) else { throw Invalid() }
        return value
    }

    mutating func value<Value: RawRepresentable<Int>>() throws(Invalid) -> Value {
        guard let value = Value(rawValue: try int()) else { throw Invalid() }
        return value
    }

    mutating func guid() throws(Invalid) -> GUID { GUID(high: try word(), low: try word()) }

    mutating func text() throws(Invalid) -> String {
        let byteCount = try word()
        guard byteCount <= UInt64(words.count * 8) else { throw Invalid() }
        let wordCount = JournalWordCounter.words(Int(byteCount))
        guard wordCount <= words.count - index else { throw Invalid() }
        defer { index += wordCount }
        let bytes = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: words[index..<index + wordCount]))
        return String(decoding: bytes.prefix(Int(byteCount)), as: UTF8.self)
    }

    mutating func isPresent() throws(Invalid) -> Bool {
        let mark = try word()
        guard mark <= 1 else { throw Invalid() }
        return mark == 1
    }

    mutating func optionalInteger() throws(Invalid) -> Int64? { try isPresent() ? integer() : nil }
    mutating func optionalInt() throws(Invalid) -> Int? { try isPresent() ? int() : nil }
    mutating func optionalGUID() throws(Invalid) -> GUID? { try isPresent() ? guid() : nil }
    mutating func optionalText() throws(Invalid) -> String? { try isPresent() ? text() : nil }

    mutating func list<Element>(
        _ read: (inout Self) throws(Invalid) -> Element
    ) throws(Invalid) -> [Element] {
        let count = try int()
        guard count >= 0 else { throw Invalid() }
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try read(&self)) }
        return elements
    }
}

/// Closings beyond the journal's reserved room, which wait in memory, in order of sequence.
final class JournalOverflow: Sendable {
    private struct State {
        var facts: [Fact] = []
        var takenCount = 0
    }

    private let state = Locked(State())

    var isEmpty: Bool { state.withLock { $0.facts.isEmpty } }

    var hasMore: Bool { state.withLock { $0.facts.count > $0.takenCount } }

    /// The closing gets the sequence that `sequence` returns; no later call returns a lower one.
    func append(_ content: Fact.Content, part: Int64, atMicroseconds: Int64, sequence: () -> Int64) -> Int64 {
        state.withLock { state in
            let sequence = sequence()
            state.facts.append(
                Fact(sequence: sequence, part: part, atMicroseconds: atMicroseconds, content: content))
            return sequence
        }
    }

    /// Merges the remaining closings into the file's facts, in order of sequence, up to the first gap after `last`.
    func merge(into facts: inout [Fact], last: inout Int64) {
        state.withLock { state in
            let first = state.takenCount
            while state.takenCount < state.facts.count {
                let sequence = state.facts[state.takenCount].sequence
                guard sequence <= last + 1 else { break }
                last = max(last, sequence)
                state.takenCount += 1
            }
            guard state.takenCount > first else { return }
            facts = (facts + state.facts[first..<state.takenCount]).ordered { $0.sequence < $1.sequence }
        }
    }

    func confirm() {
        state.withLock { state in
            state.facts.removeFirst(state.takenCount)
            state.takenCount = 0
        }
    }

    func giveBack() { state.withLock { $0.takenCount = 0 } }
}
