public import CAtomicWords

/// A value that several threads read and change without a lock.
///
/// It resembles `Synchronization.Atomic`, which requires iOS 18, but has fewer orderings: read-modify-write operations
/// always acquire and release. The value lives in its own allocation, because that address never changes. `@unchecked
/// Sendable` is right, because only atomic instructions access the word.
///
/// The type is public, in a module that no product exports. A `package` type would not be specialized in other modules.
public struct Atomic<Value: AtomicValue>: ~Copyable, @unchecked Sendable {
    @usableFromInline let word: UnsafeMutablePointer<waybill_word>

    /// Two cache lines on x86 (prefetched in pairs), one line on Apple's processors.
    private static var lineLength: Int { 128 }

    /// Creates an atomic value.
    ///
    /// - Parameter isContended: Whether threads change it constantly. If so, it gets a cache line to itself.
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

    /// Stores a value and returns the previous one.
    @inlinable @inline(__always)
    public func exchange(_ value: Value) -> Value { Value(word: waybill_exchange(word, value.word)) }

    /// Stores `desired` if the current value equals `expected`.
    ///
    /// - Returns: Whether the value was stored, and the value before the call.
    @inlinable @inline(__always)
    public func compareExchange(expected: Value, desired: Value) -> (exchanged: Bool, original: Value) {
        var found = expected.word
        let isExchanged = waybill_compare_exchange(word, &found, desired.word, false)
        return (isExchanged, Value(word: found))
    }

    /// Does the same as ``compareExchange(expected:desired:)``, but may fail spuriously. Use it in loops.
    @inlinable @inline(__always)
    public func weakCompareExchange(expected: Value, desired: Value) -> (exchanged: Bool, original: Value) {
        var found = expected.word
        let isExchanged = waybill_compare_exchange(word, &found, desired.word, true)
        return (isExchanged, Value(word: found))
    }
}

extension Atomic where Value: FixedWidthInteger {
    /// Adds a value, wraps around on overflow, and returns the sum.
    @inlinable @inline(__always) @discardableResult
    public func add(_ value: Value) -> Value { Value(word: waybill_add(word, value.word)) &+ value }

    /// Subtracts a value, wraps around on overflow, and returns the difference.
    @inlinable @inline(__always) @discardableResult
    public func subtract(_ value: Value) -> Value { add(0 &- value) }

    /// Sets the bits of `bits`, leaves all others unchanged, and returns the previous value.
    @inlinable @inline(__always)
    public func set(bits: Value) -> Value { Value(word: waybill_set_bits(word, bits.word)) }
}

/// The memory ordering of a load.
///
/// `acquiring` sees everything that the storing thread wrote before it released the value. `sequentiallyConsistent`
/// adds one order for all threads.
public enum AtomicLoadOrdering { case relaxed, acquiring, sequentiallyConsistent }

/// The memory ordering of a store; the counterpart of ``AtomicLoadOrdering``.
public enum AtomicStoreOrdering { case relaxed, releasing, sequentiallyConsistent }

/// A type whose values fit into a 64-bit word.
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
