import CWaybillSQLite
package import WaybillCore

/// One connection to an SQLite database, confined to one thread at a time.
///
/// With ``Statement`` and ``SQLValue`` the only place where SQLite's functions are called. It never checkpoints by
/// itself, neither after a commit nor when it closes, and leaves the WAL file in place: a WAL-mode file without its WAL
/// is a copy that lacks the latest facts.
package final class Connection {
    /// For the sentences of errors: the file's path.
    package let place: String
    private let name: String
    private let handle: OpaquePointer
    private var statements: [String: Statement] = [:]
    /// Memory that they take.
    private var statementByteCount = 0
    private var statementUseCount = 0
    /// The last one that takes very much memory, besides the others, which it would take the place of.
    private var longStatement: (text: String, statement: Statement)?
    /// Steps of those that were given up.
    private var forgottenSteps = 0
    private let walFrameCount = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

    package enum Access { case readOnly, readWrite, create }

    /// Memory that kept statements may take: some hundred as the library has them.
    package static let statementByteLimit = 2 << 20

    /// Memory beyond which a statement is a long one.
    private static let longByteCount = statementByteLimit / 4
    /// The text of one, by its length in UTF-8, which takes the double of its memory while it is prepared: so one is at
    /// a time.
    private static let longTextLength = 64 << 10
    private static let isPreparingLong = Locked(())

    /// Columns that a store of an older version lacks, the longer names first: statements, which name them behind a letter
    /// for their table or behind `sources`, read them as NULL.
    package var absentColumns: [String] = []

    /// How many steps of SQLite's virtual machine are taken between two looks at an interruption: about 0.1 ms.
    private static let stepsPerLook: Int32 = 1_000

    /// How long a connection waits for another one's lock.
    package static let busyMilliseconds: Int32 = 5_000

    /// Frees all connections of the process from a lock that each allocation of SQLite takes to count memory.
    ///
    /// For programs of our own: in an app, SQLite's settings are the app's. Does nothing once SQLite was used.
    package static func disableMemoryStatistics() { waybill_sqlite3_disable_memory_statistics() }

    /// What limits the waits for locks of other connections; `nil` if each may take ``busyMilliseconds``.
    private let patience: Patience?

    /// Opens a database by its path or `file:` URI.
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
        // NOMUTEX: SQLite takes no lock of its own, since one thread at a time uses the connection.
        let code = sqlite3_open_v2(
            name, &opened, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
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
        // A file may come from anybody.
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

    /// A further one to the same database, for another thread, that only reads.
    package func another() throws(WaybillError) -> Connection {
        let other = try Connection(
            name, .readOnly, at: place,
            patience: patience.map { _ in Patience(milliseconds: Patience.sharedMilliseconds) })
        other.interruption = interruption
        other.absentColumns = absentColumns
        return other
    }

    /// What ends statements before they are done; nil: nothing does.
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

    /// The statement of that text: prepared when it is first asked for, and kept for as long as there is room among
    /// those that were asked for since.
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
        let code = sqlite3_prepare_v3(handle, readable(sql), -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw error(code) }
        return Statement(prepared, of: self)
    }

    /// Gives up the one that takes very much memory, when what it was for is done.
    func forgetLongStatement() {
        forgottenSteps += longStatement?.statement.virtualMachineSteps ?? 0
        longStatement = nil
    }

    /// As it is, or for a store of an older version without the columns that this one lacks.
    private func readable(_ sql: String) -> String {
        absentColumns.reduce(sql) { sql, column in
            // `sources` first, which ends with a letter that tables are named by.
            (["sources"] + "abcdefghijklmnopqrstuvwxyz".map(String.init)).reduce(sql) { sql, table in
                sql.replacing("\(table).\(column)", with: "NULL")
            }
        }
    }

    /// Gives up those that were not asked for the longest; who uses one still has it until then.
    private func forgetStatements() {
        while statementByteCount > Self.statementByteLimit, statements.count > 1,
            let oldest = statements.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            statements[oldest.key] = nil
            statementByteCount -= oldest.value.byteCount
            forgottenSteps += oldest.value.virtualMachineSteps
        }
    }

    /// How many statements are kept, and what memory they took when they were prepared.
    package var keptStatements: (count: Int, byteCount: Int) { (statements.count, statementByteCount) }

    /// Runs statements that take no arguments and are not needed again.
    package func execute(_ script: String) throws(WaybillError) {
        let code = sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// The first column of the first row; 0 where there is none.
    package func integer<each Value: SQLValue>(_ sql: String, _ values: repeat each Value) throws(WaybillError) -> Int64
    {
        try statement(sql).first(repeat each values) { row in row.int(0) } ?? 0
    }

    /// The same as an `Int`, or the nearest that it holds here: for what is compared with a number of rows in memory.
    @_disfavoredOverload
    package func integer<each Value: SQLValue>(_ sql: String, _ values: repeat each Value) throws(WaybillError) -> Int {
        Int(clamping: try integer(sql, repeat each values) as Int64)
    }

    /// Rows that the last statement has inserted, updated or deleted.
    package var changeCount: Int { Int(sqlite3_changes(handle)) }

    /// The `INTEGER PRIMARY KEY` of the row that was inserted last.
    package var lastInsertedID: Int64 { sqlite3_last_insert_rowid(handle) }

    /// One SQLite transaction: committed when `body` returns, rolled back when it throws.
    package func transaction<Result>(
        _ begin: String = "BEGIN IMMEDIATE", _ body: () throws(WaybillError) -> Result
    ) throws(WaybillError) -> Result {
        try statement(begin).run()
        do throws(WaybillError) {
            let result = try body()
            try statement("COMMIT").run()
            return result
        } catch {
            // Some errors have rolled back already: sqlite.org/lang_transaction.html, "Response To Errors Within A
            // Transaction".
            if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Whether a SQLite transaction is open.
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// What is kept as a whole or not at all within a SQLite transaction.
    ///
    /// - Returns: What `body` has thrown, after it was rolled back and where the transaction can go on.
    /// - Throws: What `body` has thrown, where SQLite has rolled back the whole transaction.
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

    /// Pages in the WAL after the last commit of this connection.
    package var walPageCount: Int { Int(walFrameCount.pointee) }

    package enum CheckpointMode { case passive, truncate }

    /// Moves pages from the WAL into the database: as many as readers allow (passive), or all, leaving the WAL empty
    /// (truncate).
    ///
    /// - Parameter milliseconds: How long it waits for readers; `nil`: as long as for any lock.
    /// - Returns: Pages that are in the WAL afterwards.
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

    /// Whether the file says of itself that it has a WAL.
    package var isWriteAheadLogged: Bool {
        // sqlite.org/fileformat2.html, 1.3: the byte at 18 is the file format's write version, 2 for WAL.
        firstBytes(19)?.last == 2
    }

    /// The first bytes of the file, whatever they are; `nil` if it is shorter.
    ///
    /// Read through SQLite's own descriptor: opening and closing another one would drop SQLite's locks in this process
    /// (sqlite.org/howtocorrupt.html, 2.2).
    func firstBytes(_ count: Int) -> [UInt8]? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let methods = file.pointee.pMethods
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        return methods.pointee.xRead?(file, &bytes, Int32(clamping: count), 0) == SQLITE_OK ? bytes : nil
    }

    /// A number that is another one after every commit of another connection
    /// (sqlite.org/pragma.html#pragma_data_version); means nothing to other connections.
    ///
    /// Within a SQLite transaction it is that of the state which the transaction sees, and has seen from its first read
    /// on.
    package func dataVersion() throws(WaybillError) -> Int64 { try integer("PRAGMA data_version") }

    /// Work done by all statements so far, in steps of SQLite's virtual machine.
    package var virtualMachineSteps: Int {
        statements.values.reduce(forgottenSteps + (longStatement?.statement.virtualMachineSteps ?? 0)) {
            $0 + $1.virtualMachineSteps
        }
    }

    /// Whether the last call failed because SQLite could not make or write a file that it needs beside the database.
    package var lacksSideFiles: Bool { [SQLITE_CANTOPEN, SQLITE_READONLY].contains(sqlite3_errcode(handle) & 0xFF) }

    package func error(_ code: Int32) -> WaybillError { SQLiteError.error(code, on: handle, at: place) }
}

/// FairLock SQLite's result codes into sentences that say what to do.
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
