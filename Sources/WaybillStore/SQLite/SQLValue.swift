import CWaybillSQLite
package import WaybillCore

/// A value that a statement takes as an argument.
package protocol SQLValue {
    /// Binds it to the argument of that number, from 1; gives SQLite's result code.
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
            // An empty buffer may have no address, which SQLite would take for NULL.
            guard let start = bytes.baseAddress else { return sqlite3_bind_text(statement, index, "", 0, copied) }
            return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                sqlite3_bind_text(statement, index, $0, Int32(clamping: bytes.count), copied)
            }
        }
    }
}

/// A GUID is stored as its 16 bytes.
extension GUID: SQLValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        withBytes { sqlite3_bind_blob(statement, index, $0.baseAddress, 16, copied) }
    }
}

/// A value as a column holds it, of any type.
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

/// `SQLITE_TRANSIENT`, a macro that Swift does not import: SQLite copies the bytes before the call returns.
private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
