#if ClickHouse
import WaybillCore

/// Writes rows in ClickHouse's format RowBinary (https://clickhouse.com/docs/interfaces/formats/RowBinary).
struct RowBinaryWriter {
    private(set) var bytes: [UInt8] = []

    mutating func integer(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func bool(_ isTrue: Bool) { bytes.append(isTrue ? 1 : 0) }

    /// A `FixedString(16)`, because ClickHouse orders a UUID by its second half. Zeros stand for `nil`.
    mutating func guid(_ guid: GUID?) { (guid ?? ClickHouseTables.none).withBytes { bytes.append(contentsOf: $0) } }

    mutating func string(_ value: some Collection<UInt8>) {
        count(value.count)
        bytes.append(contentsOf: value)
    }

    mutating func string(_ value: String) { string(value.utf8) }

    mutating func array(_ values: [Int64]) {
        count(values.count)
        for value in values { integer(value) }
    }

    mutating func array<Element>(_ elements: [Element], _ write: (inout RowBinaryWriter, Element) -> Void) {
        count(elements.count)
        for element in elements { write(&self, element) }
    }

    private mutating func count(_ count: Int) { packed(UInt64(count)) }

    private mutating func packed(_ value: UInt64) {
        var left = value
        while left > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: left) | 0x80)
            left >>= 7
        }
        bytes.append(UInt8(left))
    }

    // MARK: Waybill's own bytes, in strings

    /// Numbers near 0 take few bytes.
    mutating func number(_ value: Int64) { packed(UInt64(bitPattern: value << 1 ^ value >> 63)) }

    mutating func optional(_ value: Int64?) {
        integer(UInt8(value == nil ? 0 : 1))
        if let value { number(value) }
    }

    mutating func nested(_ write: (inout RowBinaryWriter) -> Void) {
        var nested = RowBinaryWriter()
        write(&nested)
        string(nested.bytes)
    }
}

/// Reads rows of RowBinary. If the bytes end within a row, it throws ``Ended``, and the caller retries with more.
struct RowBinaryReader {
    struct Ended: Error {}

    private let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) throws(Ended) -> Value {
        let size = MemoryLayout<Value>.size
        guard bytes.count - offset >= size else { throw Ended() }
        defer { offset += size }
        return Value(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Value.self))
    }

    mutating func guid() throws(Ended) -> GUID {
        let slice = try take(16)
        guard let guid = GUID(bytes: slice) else { throw Ended() }
        return guid
    }

    mutating func optionalGUID() throws(Ended) -> GUID? {
        let guid = try guid()
        return guid == ClickHouseTables.none ? nil : guid
    }

    mutating func fact() throws(Ended) -> FactID { FactID(source: try guid(), sequence: try integer()) }

    mutating func bool() throws(Ended) -> Bool { try integer(UInt8.self) == 1 }

    mutating func optionalString() throws(Ended) -> [UInt8]? {
        let string = try string()
        return string.isEmpty ? nil : string
    }

    mutating func string() throws(Ended) -> [UInt8] { try Array(take(count())) }

    mutating func text() throws(Ended) -> String { try String(decoding: take(count()), as: UTF8.self) }

    mutating func array() throws(Ended) -> Integers {
        let count = try count()
        guard count <= (bytes.count - offset) / 8 else { throw Ended() }
        return Integers(bytes: try take(8 * count))
    }

    /// Valid as long as the bytes of the reader.
    struct Integers: RandomAccessCollection {
        fileprivate let bytes: UnsafeRawBufferPointer

        var startIndex: Int { 0 }
        var endIndex: Int { bytes.count / 8 }

        subscript(index: Int) -> Int64 {
            Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8 * index, as: Int64.self))
        }
    }

    mutating func array<Element>(_ element: (inout RowBinaryReader) throws -> Element) throws -> [Element] {
        try elements(count(), element)
    }

    mutating func elements<Element>(_ count: Int, _ element: (inout RowBinaryReader) throws -> Element) throws
        -> [Element]
    {
        var elements: [Element] = []
        // Each takes a byte or more.
        guard count <= bytes.count - offset else { throw Ended() }
        elements.reserveCapacity(count)
        for _ in 0..<count { elements.append(try element(&self)) }
        return elements
    }

    private mutating func take(_ count: Int) throws(Ended) -> UnsafeRawBufferPointer {
        guard bytes.count - offset >= count else { throw Ended() }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    mutating func count() throws(Ended) -> Int { Int(clamping: try packed()) }

    private mutating func packed() throws(Ended) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: 0 as UInt64, to: 64, by: 7) {
            let byte: UInt8 = try integer()
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw Ended()
    }

    // MARK: Waybill's own bytes, in strings

    mutating func number() throws(Ended) -> Int64 {
        let value = try packed()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    mutating func optional() throws(Ended) -> Int64? { try integer(UInt8.self) == 0 ? nil : number() }

    /// Valid as long as the bytes of this reader.
    mutating func nested() throws(Ended) -> RowBinaryReader { RowBinaryReader(try take(count())) }
}
#endif
