import CWaybillSQLite
package import WaybillCore

/// A prepared statement. Its connection must outlive it.
package final class Statement {
    private let handle: OpaquePointer
    private unowned let connection: Connection
    var lastUse = 0
    let byteCount: Int

    package init(_ handle: OpaquePointer, of connection: Connection) {
        self.handle = handle
        self.connection = connection
        byteCount = Int(sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_MEMUSED, 0))
    }

    deinit { sqlite3_finalize(handle) }

    package func run<each Value: SQLValue>(_ values: repeat each Value) throws(WaybillError) {
        bind(repeat each values)
        defer { reset() }
        while try step() {}
    }

    package func run(_ bind: (inout Arguments) -> Void) throws(WaybillError) {
        var arguments = Arguments(handle)
        bind(&arguments)
        check(arguments.result)
        defer { reset() }
        while try step() {}
    }

    // Not specialized, and neither are the other methods with rows: SQLite's step takes far longer than a generic call.
    @_semantics("optimize.sil.specialize.generic.never")
    package func forEachRow<each Value: SQLValue>(
        _ values: repeat each Value, body: (Row) throws(WaybillError) -> Void
    ) throws(WaybillError) {
        bind(repeat each values)
        defer { reset() }
        while try step() { try body(Row(handle)) }
    }

    @_semantics("optimize.sil.specialize.generic.never")
    package func forRows<each Value: SQLValue>(
        _ values: repeat each Value, while body: (Row) throws(WaybillError) -> Bool
    ) throws(WaybillError) {
        bind(repeat each values)
        defer { reset() }
        while try step(), try body(Row(handle)) {}
    }

    @_semantics("optimize.sil.specialize.generic.never")
    package func rows<each Value: SQLValue, Element>(
        _ values: repeat each Value, transform: (Row) throws(WaybillError) -> Element
    ) throws(WaybillError) -> [Element] {
        bind(repeat each values)
        defer { reset() }
        var elements: [Element] = []
        while try step() { elements.append(try transform(Row(handle))) }
        return elements
    }

    @_semantics("optimize.sil.specialize.generic.never")
    package func first<each Value: SQLValue, Element>(
        _ values: repeat each Value, transform: (Row) throws(WaybillError) -> Element
    ) throws(WaybillError) -> Element? {
        bind(repeat each values)
        defer { reset() }
        return try step() ? try transform(Row(handle)) : nil
    }

    /// Passes each row to `body`, for a statement whose arguments were collected with its text.
    package func forEachRow(arguments: [any SQLValue], body: (Row) throws(WaybillError) -> Void) throws(WaybillError) {
        try forRows(arguments: arguments) { (row) throws(WaybillError) in
            try body(row)
            return true
        }
    }

    package func forRows(arguments: [any SQLValue], while body: (Row) throws(WaybillError) -> Bool) throws(WaybillError)
    {
        bind(arguments)
        defer { reset() }
        while try step(), try body(Row(handle)) {}
    }

    /// Binds arguments; ``next()`` then returns the rows, interleaved with other statements' rows, until ``stop()``.
    package func start<each Value: SQLValue>(_ values: repeat each Value) {
        reset()
        bind(repeat each values)
    }

    package func start(arguments: [any SQLValue]) {
        reset()
        bind(arguments)
    }

    package func next() throws(WaybillError) -> Row? { try step() ? Row(handle) : nil }

    package func stop() { reset() }

    package var virtualMachineSteps: Int { Int(sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_VM_STEP, 0)) }

    private var bindingResult = SQLITE_OK

    private func bind<each Value: SQLValue>(_ values: repeat each Value) {
        var index: Int32 = 0
        for value in repeat each values {
            index += 1
            check(value.bind(to: handle, at: index))
        }
    }

    private func bind(_ arguments: [any SQLValue]) {
        var index: Int32 = 0
        for argument in arguments {
            index += 1
            check(argument.bind(to: handle, at: index))
        }
    }

    private func check(_ code: Int32) {
        if code != SQLITE_OK { bindingResult = code }
    }

    private func step() throws(WaybillError) -> Bool {
        guard bindingResult == SQLITE_OK else { throw connection.error(bindingResult) }
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw connection.error(code)
        }
    }

    private func reset() {
        sqlite3_reset(handle)
        bindingResult = SQLITE_OK
    }
}

package struct Arguments {
    private let handle: OpaquePointer
    private var count: Int32 = 0
    fileprivate private(set) var result = SQLITE_OK

    fileprivate init(_ handle: OpaquePointer) { self.handle = handle }

    package mutating func append(_ value: some SQLValue) {
        count += 1
        check(value.bind(to: handle, at: count))
    }

    private mutating func check(_ code: Int32) {
        if code != SQLITE_OK { result = code }
    }
}

/// The current row of a statement. Columns count from 0.
package struct Row {
    private let handle: OpaquePointer
    private var first: Int32 = 0

    fileprivate init(_ handle: OpaquePointer) { self.handle = handle }

    package func dropFirst(_ count: Int32) -> Row {
        var rest = self
        rest.first += count
        return rest
    }

    package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, first + column) == SQLITE_NULL }

    /// The result is limited to ±(2^53 - 1), because a foreign file may contain any number and sums must not overflow.
    package func int(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, first + column).bounded }
    package func optionalInt(_ column: Int32) -> Int64? { isNull(column) ? nil : int(column) }
    @_disfavoredOverload
    package func int(_ column: Int32) -> Int { Int(clamping: int(column) as Int64) }
    @_disfavoredOverload
    package func optionalInt(_ column: Int32) -> Int? { isNull(column) ? nil : int(column) }
    /// A range of which `column` has the first number and the next one the last. A damaged one has its first number.
    package func range(_ column: Int32) -> ClosedRange<Int64> { int(column)...max(int(column), int(column + 1)) }
    package func bool(_ column: Int32) -> Bool { sqlite3_column_int64(handle, first + column) != 0 }

    package func text(_ column: Int32) -> String { optionalText(column) ?? "" }
    package func optionalText(_ column: Int32) -> String? {
        guard let start = sqlite3_column_text(handle, first + column) else { return nil }
        let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, first + column)))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Floating-point numbers become NULL, because our tables have none.
    package func value(_ column: Int32) -> ColumnValue {
        switch sqlite3_column_type(handle, first + column) {
        case SQLITE_INTEGER: return .integer(int(column))
        case SQLITE_TEXT: return .text(text(column))
        case SQLITE_BLOB:
            guard let start = sqlite3_column_blob(handle, first + column) else { return .blob([]) }
            return .blob(
                Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, first + column)))))
        default: return .null
        }
    }

    package func optionalBytes(_ column: Int32) -> [UInt8]? {
        if case .blob(let bytes) = value(column) { bytes } else { nil }
    }

    /// `nil` for NULL, and for anything but 16 bytes.
    package func optionalGUID(_ column: Int32) -> GUID? {
        guard let start = sqlite3_column_blob(handle, first + column) else { return nil }
        return GUID(
            bytes: UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, first + column))))
    }
    /// All zeros for anything but 16 bytes, which only a damaged store contains.
    package func guid(_ column: Int32) -> GUID { optionalGUID(column) ?? GUID(high: 0, low: 0) }
}

package protocol SQLValue {
    /// Returns SQLite's result code; `index` counts from 1.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32
}

extension Int: SQLValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, Int64(self))
    }
}

extension Int64: SQLValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, self)
    }
}

extension Bool: SQLValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int(statement, index, self ? 1 : 0)
    }
}

extension String: SQLValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        var copy = self
        return copy.withUTF8 { bytes in
            // An empty buffer may have no address, which SQLite would read as NULL.
            guard let start = bytes.baseAddress else { return sqlite3_bind_text(statement, index, "", 0, copied) }
            return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                sqlite3_bind_text(statement, index, $0, Int32(clamping: bytes.count), copied)
            }
        }
    }
}

extension GUID: SQLValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        withBytes { sqlite3_bind_blob(statement, index, $0.baseAddress, 16, copied) }
    }
}

package enum ColumnValue: SQLValue {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .null: sqlite3_bind_null(statement, index)
        case .integer(let value): value.bind(to: statement, at: index)
        case .text(let text): text.bind(to: statement, at: index)
        case .blob(let bytes): sqlite3_bind_blob(statement, index, bytes, Int32(clamping: bytes.count), copied)
        }
    }
}

extension Optional: SQLValue where Wrapped: SQLValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .some(let value): value.bind(to: statement, at: index)
        case .none: sqlite3_bind_null(statement, index)
        }
    }
}

/// `SQLITE_TRANSIENT`, a macro that Swift can't import: SQLite copies the bytes during the call.
private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
