import CWaybillSQLite
package import WaybillCore

/// A connection to an SQLite database, confined to one thread at a time.
///
/// It never checkpoints on its own, and keeps the WAL when it closes, because a WAL-mode file without one lacks facts.
package final class Connection {
    package let place: String
    private let name: String
    private let handle: OpaquePointer
    private var statements: [String: Statement] = [:]
    private var statementByteCount = 0
    private var statementUseCount = 0
    private var longStatement: (text: String, statement: Statement)?
    private var forgottenSteps = 0
    private let walFrameCount = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

    package enum Access { case readOnly, readWrite, create }

    /// The memory limit of cached statements, enough for hundreds.
    package static let statementByteLimit = 2 << 20

    /// A larger statement does not enter the cache.
    private static let longByteCount = statementByteLimit / 4
    /// Preparing a text of this length takes double its memory, so only one is prepared at a time.
    private static let longTextLength = 64 << 10
    private static let isPreparingLong = Locked(())

    /// How many steps of SQLite's virtual machine are taken between two looks at an interruption: about 0.1 ms.
    private static let stepsPerLook: Int32 = 1_000

    package static let busyMilliseconds: Int32 = 5_000

    /// Stops SQLite from counting memory under a lock. Call it before SQLite's first use, and not in an app, which owns
    /// these settings.
    package static func disableMemoryStatistics() { waybill_sqlite3_disable_memory_statistics() }

    private let patience: Patience?

    /// Apple's SQLITE_OPEN_FILEPROTECTION_COMPLETEUNTILFIRSTUSERAUTHENTICATION: SQLite maps the file `-shm`, which must
    /// stay readable while the device is locked.
    private static var protection: Int32 {
        #if canImport(Darwin) && !os(macOS)
        0x0030_0000
        #else
        0
        #endif
    }

    package convenience init(_ name: String, _ access: Access, at place: String) throws(WaybillError) {
        try self.init(name, access, at: place, patience: nil)
    }

    init(_ name: String, _ access: Access, at place: String, patience: Patience?) throws(WaybillError) {
        let flags =
            switch access {
            case .readOnly: SQLITE_OPEN_READONLY
            case .readWrite: SQLITE_OPEN_READWRITE
            case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            }
        var opened: OpaquePointer?
        // NOMUTEX, because only one thread at a time uses the connection.
        let code = sqlite3_open_v2(
            name, &opened,
            flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | Self.protection, nil)
        guard code == SQLITE_OK, let opened else {
            let error = SQLiteError.error(code, on: opened, at: place)
            sqlite3_close_v2(opened)
            walFrameCount.deallocate()
            throw error
        }
        self.place = place
        self.name = name
        self.patience = patience
        handle = opened
        walFrameCount.initialize(to: 0)
        limitWaits()
        _ = waybill_sqlite3_disable_checkpoint_on_close(handle)
        // Files may come from untrusted sources.
        _ = waybill_sqlite3_distrust_schema(handle)
        sqlite3_exec(handle, "PRAGMA cell_size_check = ON", nil, nil, nil)
        var isPersistent: Int32 = 1
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &isPersistent)
        // Replaces SQLite's own hook, which checkpoints.
        sqlite3_wal_hook(
            handle,
            { count, _, _, frames in
                count?.assumingMemoryBound(to: Int32.self).pointee = frames
                return SQLITE_OK
            }, walFrameCount)
    }

    private func limitWaits() {
        guard let patience else {
            sqlite3_busy_timeout(handle, Self.busyMilliseconds)
            return
        }
        sqlite3_busy_handler(
            handle,
            { context, _ in
                guard let context else { return 0 }
                return Unmanaged<Patience>.fromOpaque(context).takeUnretainedValue().wait() ? 1 : 0
            }, Unmanaged.passUnretained(patience).toOpaque())
    }

    package func another() throws(WaybillError) -> Connection {
        let other = try Connection(
            name, .readOnly, at: place,
            patience: patience.map { _ in Patience(milliseconds: Patience.sharedMilliseconds) })
        other.interruption = interruption
        return other
    }

    /// Ends statements early; `nil` lets them finish.
    package var interruption: Interruption? {
        didSet {
            let context = interruption.map { Unmanaged.passUnretained($0).toOpaque() }
            sqlite3_progress_handler(
                handle, context == nil ? 0 : Self.stepsPerLook,
                { context in
                    guard let context else { return 0 }
                    return Unmanaged<Interruption>.fromOpaque(context).takeUnretainedValue().isDue ? 1 : 0
                }, context)
        }
    }

    deinit {
        statements = [:]
        longStatement = nil
        sqlite3_close_v2(handle)
        walFrameCount.deallocate()
    }

    package func statement(_ sql: String) throws(WaybillError) -> Statement {
        statementUseCount += 1
        if let statement = statements[sql] {
            statement.lastUse = statementUseCount
            return statement
        }
        if let longStatement, longStatement.text == sql { return longStatement.statement }
        let statement: Statement
        if sql.utf8.count > Self.longTextLength {
            forgetLongStatement()
            statement = try Self.isPreparingLong.withLock { _ in
                Result { () throws(WaybillError) in try prepare(sql) }
            }.get()
        } else {
            statement = try prepare(sql)
        }
        guard statement.byteCount <= Self.longByteCount else {
            forgetLongStatement()
            longStatement = (sql, statement)
            return statement
        }
        statement.lastUse = statementUseCount
        statements[sql] = statement
        statementByteCount += statement.byteCount
        forgetStatements()
        return statement
    }

    private func prepare(_ sql: String) throws(WaybillError) -> Statement {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw error(code) }
        return Statement(prepared, of: self)
    }

    func forgetLongStatement() {
        forgottenSteps += longStatement?.statement.virtualMachineSteps ?? 0
        longStatement = nil
    }

    /// Gives up those that were not asked for the longest.
    private func forgetStatements() {
        while statementByteCount > Self.statementByteLimit, statements.count > 1,
            let oldest = statements.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            statements[oldest.key] = nil
            statementByteCount -= oldest.value.byteCount
            forgottenSteps += oldest.value.virtualMachineSteps
        }
    }

    package var keptStatements: (count: Int, byteCount: Int) { (statements.count, statementByteCount) }

    package func execute(_ script: String) throws(WaybillError) {
        let code = sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// Returns 0 without rows.
    package func integer<each Value: SQLValue>(_ sql: String, _ values: repeat each Value) throws(WaybillError) -> Int64
    {
        try statement(sql).first(repeat each values) { row in row.int(0) } ?? 0
    }

    @_disfavoredOverload
    package func integer<each Value: SQLValue>(_ sql: String, _ values: repeat each Value) throws(WaybillError) -> Int {
        Int(clamping: try integer(sql, repeat each values) as Int64)
    }

    package var changeCount: Int { Int(sqlite3_changes(handle)) }

    package var lastInsertedID: Int64 { sqlite3_last_insert_rowid(handle) }

    @_semantics("optimize.sil.specialize.generic.never")
    package func transaction<Result>(
        _ begin: String = "BEGIN IMMEDIATE", _ body: () throws(WaybillError) -> Result
    ) throws(WaybillError) -> Result {
        try statement(begin).run()
        do throws(WaybillError) {
            let result = try body()
            try statement("COMMIT").run()
            return result
        } catch {
            // Some errors have rolled back already (sqlite.org/lang_transaction.html, "Response To Errors Within…").
            if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Returns the error of `body` after a rollback; throws it if SQLite rolled back the whole transaction.
    package func savepoint<Value>(_ body: () throws(WaybillError) -> Value) throws(WaybillError) -> Result<
        Value, WaybillError
    > {
        try statement("SAVEPOINT one").run()
        do throws(WaybillError) {
            let value = try body()
            try statement("RELEASE one").run()
            return .success(value)
        } catch {
            guard sqlite3_get_autocommit(handle) == 0 else { throw error }
            try execute("ROLLBACK TO one; RELEASE one")
            return .failure(error)
        }
    }

    package var walPageCount: Int { Int(walFrameCount.pointee) }

    package enum CheckpointMode { case passive, truncate }

    /// Moves pages that readers allow, or all of them (`truncate`), and returns the number of pages left in the WAL.
    ///
    /// - Parameter milliseconds: How long to wait for readers; `nil` waits as for any lock.
    @discardableResult
    package func checkpoint(_ mode: CheckpointMode, waiting milliseconds: Int32? = nil) throws(WaybillError) -> Int {
        if let milliseconds { sqlite3_busy_timeout(handle, milliseconds) }
        defer { if milliseconds != nil { limitWaits() } }
        var pageCount: Int32 = 0
        let code = sqlite3_wal_checkpoint_v2(
            handle, nil, mode == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE, &pageCount, nil)
        guard code == SQLITE_OK else { throw error(code) }
        walFrameCount.pointee = 0
        return Int(max(0, pageCount))
    }

    package var isWriteAheadLogged: Bool {
        // The byte at 18 is the write version, 2 for WAL (sqlite.org/fileformat2.html, 1.3).
        firstBytes(19)?.last == 2
    }

    /// Reads through SQLite's own descriptor: closing another one drops its locks (sqlite.org/howtocorrupt.html, 2.2).
    func firstBytes(_ count: Int) -> [UInt8]? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let methods = file.pointee.pMethods
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        return methods.pointee.xRead?(file, &bytes, Int32(clamping: count), 0) == SQLITE_OK ? bytes : nil
    }

    /// Changes with every commit of another connection; constant within a transaction
    /// (sqlite.org/pragma.html#pragma_data_version).
    package func dataVersion() throws(WaybillError) -> Int64 { try integer("PRAGMA data_version") }

    package var virtualMachineSteps: Int {
        statements.values.reduce(forgottenSteps + (longStatement?.statement.virtualMachineSteps ?? 0)) {
            $0 + $1.virtualMachineSteps
        }
    }

    package var lacksSideFiles: Bool { [SQLITE_CANTOPEN, SQLITE_READONLY].contains(sqlite3_errcode(handle) & 0xFF) }

    package func error(_ code: Int32) -> WaybillError { SQLiteError.error(code, on: handle, at: place) }
}

/// Errors for SQLite's result codes. They contain no arguments: SQLite's messages name tables and columns only.
package enum SQLiteError {
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
