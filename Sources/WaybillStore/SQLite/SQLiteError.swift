import CWaybillSQLite
package import WaybillCore

/// Turns SQLite's result codes into sentences that say what to do.
///
/// Neither sentence nor cause holds an argument of a statement: SQLite's messages name tables and columns, never
/// values.
package enum SQLiteError {
    /// What a code means for the store at `place`.
    package static func error(_ code: Int32, on connection: OpaquePointer?, at place: String) -> WaybillError {
        let words = connection.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
        let cause = "SQLite \(code): \(words.map { String(cString: $0) } ?? "unknown")"
        let kind: WaybillError.Code =
            switch code & 0xFF {
            case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
            case SQLITE_INTERRUPT: .deadline
            default: .store
            }
        return WaybillError(kind, sentence(for: code & 0xFF, at: place), cause: cause)
    }

    private static func sentence(for code: Int32, at place: String) -> String {
        switch code {
        case SQLITE_FULL: "The disk is full, so the store at \(place) cannot grow. Free some space and try again."
        case SQLITE_BUSY, SQLITE_LOCKED:
            "The store at \(place) is locked by another connection. Try again when it has finished."
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
            "The store at \(place) cannot be written. Check the permissions of the file and of its folder."
        case SQLITE_CANTOPEN:
            "The store at \(place) cannot be opened. Check that the path is right and its permissions."
        case SQLITE_IOERR:
            "The disk reports an error for the store at \(place). Check the disk; a copy of the folder may still be readable."
        case SQLITE_CORRUPT: "The store at \(place) is damaged. Move it away; `waybill verify` says what is left of it."
        case SQLITE_NOTADB: "\(place) is not a Waybill store: it is not an SQLite database."
        case SQLITE_INTERRUPT: "Reading the store at \(place) was ended before it was done."
        case SQLITE_NOMEM: "There was no memory left to use the store at \(place)."
        default: "SQLite could not use the store at \(place)."
        }
    }
}
