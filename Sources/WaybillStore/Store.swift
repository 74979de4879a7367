import Foundation
package import WaybillCore

/// The writing end of a store: one connection, confined to a ``StoreThread``.
///
/// Several processes may write to the same file; each write holds a lock between them.
///
/// ## Usage
///
/// ```swift
/// let store = try Store(.folder(url))
/// try store.register(source)
/// try store.append(RecordedBatch(source: source.id, facts: facts))
/// if let set = try store.lease(owner: source.id, now: uptime, expiresIn: 60_000_000, isAlive: { _ in true }) {
///     // send the set, then
///     try store.settle(set.id, rejections: receipt.rejections, at: wall)
/// }
/// ```
package final class Store {
    package let connection: Connection
    private let lock: FileLock?
    private let hold: AnyObject?
    private let place: ResolvedLocation
    let file: StoreFile?
    let identity: StoreFile.Identity?
    private(set) var files: StoreFiles?
    /// `nil` until the bytes are counted.
    var bodyByteCount: Int64?
    /// `nil` until this connection counts the names, and after a rollback.
    package var nameCount: Int?
    package var hooks = IngestHooks()
    var stored: [StoredFacts] = []
    /// The transactions that the current write finished, for ``hooks``.
    var finished: [FinishedTransaction] = []
    /// The store accepts no more names from other sources beyond this number.
    var nameLimit = Limits.names
    /// Received facts of a transaction beyond this number are rejected; `nil` means no limit.
    package var factsPerTransaction: Int?

    /// A newer version of Waybill has migrated the store. Reopening the store throws an error that says so.
    private(set) var isSuperseded = false

    /// In pages: about 4 MB trigger a checkpoint, and about 16 MB make it wait for readers.
    private static let checkpointPageCount = 1_000
    private static let longWALPageCount = 4 * checkpointPageCount
    /// The wait for each 16 MB of WAL, up to one second in total.
    private static let checkpointMilliseconds = 100
    private var nextLongWALPageCount = longWALPageCount

    /// Opens a store for writing; creates missing folders (mode 0700), files (0600) and tables.
    package convenience init(
        _ place: ResolvedLocation, commitsAreSynced: Bool = false, clock: any TransactionClock = SystemClock()
    ) throws(WaybillError) {
        let hold = try place.hold(by: .system)
        try self.init(place, lock: nil, hold: hold, commitsAreSynced: commitsAreSynced, clock: clock)
    }

    /// - Parameter hold: Prevents suspension while the store is open; `nil` if the caller does that.
    init(
        _ place: ResolvedLocation, lock: FileLock?, hold: AnyObject? = nil, commitsAreSynced: Bool = false,
        clock: any TransactionClock
    ) throws(WaybillError) {
        self.place = place
        self.hold = hold
        file = place.path.map { StoreFile(path: $0) }
        if let file {
            if let folder = place.folder { try StoreFolder.make(folder) }
            if let lock { self.lock = lock } else { self.lock = try FileLock(of: file.path) }
            try Self.finishSalvage(file, self.lock, at: clock.wallMicroseconds())
            try Self.prepare(file.path)
        } else {
            self.lock = nil
        }
        identity = file?.identity
        connection = try Connection(
            place.uri(), place.path == nil ? .create : .readWrite, at: place.description, patience: lock?.patience)
        try locked { () throws(WaybillError) in
            try Schema.checkOwnership(connection)
            if place.path != nil { try connection.execute("PRAGMA journal_mode = WAL") }
            try setUp(commitsAreSynced: commitsAreSynced)
            let isNew = try connection.transaction { () throws(WaybillError) in try Schema.migrate(connection) }
            // Readers that cannot read the WAL must find a valid store, too.
            if isNew, let path = place.path {
                try connection.checkpoint(.truncate)
                // SQLite holds no locks on the WAL, so opening and closing it here is safe.
                StoreFolder.excludeFromBackup(URL(filePath: path + "-wal"))
            }
        }
        files = StoreFiles(of: place)
    }

    /// Reopens a store that this process opened before; creates no files.
    init(again place: ResolvedLocation, lock: FileLock) throws(WaybillError) {
        self.place = place
        self.lock = lock
        hold = nil
        file = place.path.map { StoreFile(path: $0) }
        identity = file?.identity
        connection = try Connection(place.uri(), .readWrite, at: place.description, patience: lock.patience)
        // The first connection rebuilds the WAL's index. The lock keeps other processes away if this one is suspended
        // meanwhile. If another connection holds it, the index exists.
        let isLocked = lock.acquireIfFree()
        defer { if isLocked { lock.release() } }
        try setUp()
        files = StoreFiles(of: place)
    }

    private func setUp(commitsAreSynced: Bool = false) throws(WaybillError) {
        // Erased bytes must leave the file, also after a page was split.
        try connection.execute("PRAGMA secure_delete = ON")
        try connection.execute("PRAGMA synchronous = \(commitsAreSynced ? "FULL" : "NORMAL")")
        // Shrinks a WAL that grew while readers blocked checkpoints.
        try connection.execute("PRAGMA journal_size_limit = \(2 * Self.checkpointPageCount * 4_096)")
    }

    private static func finishSalvage(_ file: StoreFile, _ lock: FileLock?, at wall: Int64) throws(WaybillError) {
        guard file.hasSuccessor else { return }
        try lock?.acquire()
        defer { lock?.release() }
        try file.succeed(at: wall)
    }

    var journalFolder: URL? {
        place.journalFolder ?? file.map { URL(filePath: $0.path).deletingLastPathComponent() }
    }

    /// SQLite goes on writing to deleted files.
    var isInPlace: Bool { StoreFiles(of: place) == files }

    /// Creates an empty file, so it has its mode before it has content.
    private static func prepare(_ path: String) throws(WaybillError) {
        // `O_EXCL`, because closing an existing file would drop this process's SQLite locks on it.
        let descriptor = DurableFile.open(path, O_WRONLY | O_CREAT | O_EXCL)
        let reason = errno
        if descriptor >= 0 {
            close(descriptor)
            StoreFolder.excludeFromBackup(URL(filePath: path))
        } else if reason != EEXIST {
            throw WaybillError(
                .store, "The store \(path) cannot be made. Check that its folder is one, and the permissions.",
                cause: String(cString: strerror(reason)))
        }
        guard !DurableFile.isForeign(path) else {
            throw WaybillError(
                .store,
                "\(path) belongs to another user, who was able to write to its folder. Move it away, or name another place."
            )
        }
        guard !ResolvedLocation.isFolder(URL(filePath: path)) else {
            throw WaybillError(
                .store,
                "\(path) is a folder, and a store's file was expected there. Move it away, or name another place.")
        }
    }

    /// Throws an error if the disk has no room for a set beside the store.
    package func checkRoom() throws(WaybillError) {
        guard let path = place.path else { return }
        do throws(WaybillError) {
            // Random bytes, because a disk may compress; the file is deleted at the end of this scope.
            let probe = try PartialFile(URL(filePath: path + "-room"))
            var random = SystemRandomNumberGenerator()
            let words = (0..<8_192).map { _ in random.next() }
            try probe.write(words.withUnsafeBytes { Array($0) })
        } catch {
            throw WaybillError(.store, error.message, cause: error.cause)
        }
    }

    /// Runs `body` in a transaction under the lock between processes. A nested call joins the transaction.
    @_semantics("optimize.sil.specialize.generic.never")
    package func write<Result>(_ body: () throws(WaybillError) -> Result) throws(WaybillError) -> Result {
        guard !connection.isInTransaction else { return try body() }
        return try locked { () throws(WaybillError) in
            guard identity == file?.identity else {
                throw WaybillError(
                    .damaged, "The store's file \(connection.place) was moved away or deleted while it was open.")
            }
            let result: Result
            do throws(WaybillError) {
                result = try connection.transaction("BEGIN IMMEDIATE") { () throws(WaybillError) in
                    do throws(WaybillError) { try Schema.checkVersion(connection) } catch {
                        isSuperseded = true
                        throw error
                    }
                    return try body()
                }
            } catch {
                // The rollback also undid names that were counted.
                nameCount = nil
                (stored, finished) = ([], [])
                throw error
            }
            if !stored.isEmpty {
                hooks.didStore?(stored)
                stored = []
            }
            if !finished.isEmpty {
                hooks.didFinish?(finished)
                finished = []
            }
            checkpointIfDue()
            return result
        }
    }

    /// Overlapping readers block every passive checkpoint while the WAL grows. The checkpoint of a long WAL therefore
    /// waits briefly for them.
    private func checkpointIfDue() {
        guard connection.walPageCount > Self.checkpointPageCount,
            let left = try? connection.checkpoint(.passive)
        else { return }
        guard left > nextLongWALPageCount else {
            if left < Self.longWALPageCount { nextLongWALPageCount = Self.longWALPageCount }
            return
        }
        let wait = min(1_000, Self.checkpointMilliseconds * (left / Self.longWALPageCount))
        let isEmpty = (try? connection.checkpoint(.truncate, waiting: Int32(clamping: wait))) != nil
        nextLongWALPageCount = isEmpty ? Self.longWALPageCount : left + Self.checkpointPageCount
    }

    package var walByteCount: Int64 {
        var status = stat()
        guard let path = place.path, stat(path + "-wal", &status) == 0 else { return 0 }
        return Int64(status.st_size)
    }

    /// Returns how many bytes rows may take; `nil` if the files with the WAL are within the limit.
    ///
    /// If readers keep the WAL, rows give up at most half of the limit.
    func rowByteLimit(within limit: Int64) throws(WaybillError) -> Int64? {
        guard try connection.usedByteCount() + walByteCount > limit else { return nil }
        if walByteCount > 0 {
            _ = try? locked { () throws(WaybillError) -> Int in try connection.checkpoint(.truncate, waiting: 0) }
        }
        guard try connection.usedByteCount() + walByteCount > limit else { return nil }
        // Without room for the WAL, each of the next writes would have to empty it.
        let reserve = min(Int64(Self.checkpointPageCount) * 4_096, limit / 16)
        return limit - min(max(reserve, walByteCount), limit / 2)
    }

    package func checkpoint() throws(WaybillError) {
        _ = try locked { () throws(WaybillError) in try connection.checkpoint(.truncate) }
    }

    /// Waits until all writes are on the disk. In WAL mode, `synchronous=NORMAL` syncs no commit, and FULL syncs no
    /// empty one, so this writes a row under FULL.
    package func sync() throws(WaybillError) {
        let usual = try connection.integer("PRAGMA synchronous")
        try connection.execute("PRAGMA synchronous = FULL")
        defer { try? connection.execute("PRAGMA synchronous = \(usual)") }
        try write { () throws(WaybillError) in
            try connection.statement(
                "INSERT INTO settings(key, value) VALUES ('syncs', '1') ON CONFLICT(key) DO UPDATE SET value = value + 1"
            ).run()
        }
        #if canImport(Darwin)
        // The system's SQLite uses fsync(2), which leaves bytes in the drive's buffer. This flushes the drive through
        // the WAL: closing another file would drop SQLite's locks on it.
        guard let path = place.path else { return }
        do {
            try DurableFile.withDescriptor(of: path + "-wal", O_RDWR, DurableFile.sync)
        } catch {
            throw WaybillError(
                .store, "What was written to \(path) may not be on the disk yet. Try again.",
                cause: error.localizedDescription)
        }
        #endif
    }

    @_semantics("optimize.sil.specialize.generic.never")
    private func locked<Result>(_ body: () throws(WaybillError) -> Result) throws(WaybillError) -> Result {
        try lock?.acquire()
        defer { lock?.release() }
        return try body()
    }

    // MARK: Settings

    package func setting(_ key: String) throws(WaybillError) -> String? { try connection.setting(key) }

    /// `nil` deletes the setting.
    package func set(_ key: String, to value: String?) throws(WaybillError) {
        try write { () throws(WaybillError) in try connection.set(key, to: value) }
    }
}

extension Connection {
    /// The ID in the store's cursors; `nil` for a database.
    package func storeID() throws(WaybillError) -> GUID? { try setting(Self.idKey).flatMap { GUID($0) } }

    /// The last arrival that this copy has of a store; `nil` if it is no copy of it.
    package func lastArrival(copiedFrom store: GUID) throws(WaybillError) -> Int64? {
        try setting("\(Self.idKey) \(store)").flatMap { Int64($0) }
    }

    /// Makes a copy another store.
    func renewID() throws(WaybillError) {
        if let former = try storeID() {
            let last: Int64 = try integer("SELECT seq FROM sqlite_sequence WHERE name = 'arrivals'")
            try set("\(Self.idKey) \(former)", to: "\(last)")
        }
        try set(Self.idKey, to: GUID().description)
    }

    package static var idKey: String { "store" }

    func setting(_ key: String) throws(WaybillError) -> String? {
        try statement("SELECT value FROM settings WHERE key = ?").first(key) { row in row.text(0) }
    }

    /// `nil` deletes the setting.
    func set(_ key: String, to value: String?) throws(WaybillError) {
        guard let value else { return try statement("DELETE FROM settings WHERE key = ?").run(key) }
        try statement(
            "INSERT INTO settings(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value"
        ).run(key, value)
    }
}
