public import CAtomicWords

/// A value that several threads read and change without a lock.
///
/// As `Synchronization.Atomic`, which is not on iOS before 18, with fewer orders: what reads and writes at once always
/// acquires and releases. In memory of its own, because only that stays where it is.
///
/// Public, in a module of its own that no product has: what is `package` is not compiled into other modules, so that
/// one instruction would become a call of generic code.
// right because the word is only used by atomic instructions
public struct Atomic<Value: AtomicValue>: ~Copyable, @unchecked Sendable {
    @usableFromInline let word: UnsafeMutablePointer<waybill_word>

    /// Bytes that no processor hands on by halves: two lines on x86, one on Apple's.
    private static var lineLength: Int { 128 }

    /// - Parameter isContended: Whether threads change it all the time: then nothing else lies in the lines of the
    ///   processors' caches where it lies.
    public init(_ value: Value, isContended: Bool = false) {
        let length = isContended ? Self.lineLength : MemoryLayout<UInt64>.size
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: length, alignment: max(length, MemoryLayout<UInt64>.alignment))
        word = memory.initializeMemory(as: UInt64.self, to: value.word)
    }

    deinit { word.deallocate() }

    @inlinable @inline(__always)
    public func load(ordering: AtomicLoadOrdering) -> Value {
        switch ordering {
        case .relaxed: Value(word: waybill_load_relaxed(word))
        case .acquiring: Value(word: waybill_load_acquire(word))
        case .sequentiallyConsistent: Value(word: waybill_load_in_order(word))
        }
    }

    @inlinable @inline(__always)
    public func store(_ value: Value, ordering: AtomicStoreOrdering) {
        switch ordering {
        case .relaxed: waybill_store_relaxed(word, value.word)
        case .releasing: waybill_store_release(word, value.word)
        case .sequentiallyConsistent: waybill_store_in_order(word, value.word)
        }
    }

    /// - Returns: What was there before.
    @inlinable @inline(__always)
    public func exchange(_ value: Value) -> Value { Value(word: waybill_exchange(word, value.word)) }

    /// Puts a value where another one is.
    ///
    /// - Returns: Whether that one was there, and what was there before.
    @inlinable @inline(__always)
    public func compareExchange(expected: Value, desired: Value) -> (exchanged: Bool, original: Value) {
        var found = expected.word
        let isExchanged = waybill_compare_exchange(word, &found, desired.word, false)
        return (isExchanged, Value(word: found))
    }

    /// As ``compareExchange(expected:desired:)``; may fail although the expected value was there: for loops.
    @inlinable @inline(__always)
    public func weakCompareExchange(expected: Value, desired: Value) -> (exchanged: Bool, original: Value) {
        var found = expected.word
        let isExchanged = waybill_compare_exchange(word, &found, desired.word, true)
        return (isExchanged, Value(word: found))
    }
}

extension Atomic where Value: FixedWidthInteger {
    /// Adds, and wraps around.
    ///
    /// - Returns: The sum.
    @inlinable @inline(__always) @discardableResult
    public func add(_ value: Value) -> Value { Value(word: waybill_add(word, value.word)) &+ value }

    /// Subtracts, and wraps around.
    ///
    /// - Returns: The difference.
    @inlinable @inline(__always) @discardableResult
    public func subtract(_ value: Value) -> Value { add(0 &- value) }

    /// Sets bits, and leaves the others as they are.
    ///
    /// - Returns: What was there before.
    @inlinable @inline(__always)
    public func set(bits: Value) -> Value { Value(word: waybill_set_bits(word, bits.word)) }
}

/// What a thread sees of what others wrote before: nothing certain; all that they wrote before they released the value;
/// as that, in an order that is the same for all threads.
public enum AtomicLoadOrdering { case relaxed, acquiring, sequentiallyConsistent }

/// What others see of what a thread wrote before: the counterpart of ``AtomicLoadOrdering``.
public enum AtomicStoreOrdering { case relaxed, releasing, sequentiallyConsistent }

/// What fits into a word.
public protocol AtomicValue: Sendable {
    init(word: UInt64)
    var word: UInt64 { get }
}

extension AtomicValue where Self: FixedWidthInteger {
    @inlinable @inline(__always)
    public init(word: UInt64) { self.init(truncatingIfNeeded: word) }

    @inlinable @inline(__always)
    public var word: UInt64 { UInt64(truncatingIfNeeded: self) }
}

extension Int: AtomicValue {}
extension Int32: AtomicValue {}
extension Int64: AtomicValue {}
extension UInt: AtomicValue {}
extension UInt64: AtomicValue {}

extension Bool: AtomicValue {
    @inlinable @inline(__always)
    public init(word: UInt64) { self = word != 0 }

    @inlinable @inline(__always)
    public var word: UInt64 { self ? 1 : 0 }
}
