import Foundation
package import WaybillCore

/// The writing end of a store: facts in, sets out, sets in.
///
/// One connection, confined to one serial thread (``StoreThread``). Several processes may each have one for the same
/// file: each write holds a lock between them.
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
    private let place: ResolvedLocation
    let file: StoreFile?
    /// The file that is open, which another process may move away or delete.
    let identity: StoreFile.Identity?
    private(set) var files: StoreFiles?
    /// Own sources seen so far, by ID.
    var ownSources: [GUID: OwnSource] = [:]
    /// Bytes that bodies take, as far as this connection knows; nil: it has not looked yet.
    var bodyByteCount: Int64?
    /// Names that there are, as far as this connection knows; nil: it has not counted them since some were lost.
    package var nameCount: Int?
    /// Names beyond which no more are taken from others.
    var nameLimit = Limits.names

    /// Whether a newer version of Waybill has migrated the store since it was opened. It must be opened again, which says so.
    private(set) var isSuperseded = false

    /// Pages in the WAL that make the store checkpoint after a write: about 4 MB.
    private static let checkpointPageCount = 1_000
    /// Pages in the WAL that make a checkpoint wait for readers: about 16 MB.
    private static let longWALPageCount = 4 * checkpointPageCount
    /// How long a checkpoint waits for readers, for each of those 16 MB; a second at most.
    private static let checkpointMilliseconds = 100
    /// Pages that the WAL has to have before a checkpoint waits for readers again.
    private var nextLongWALPageCount = longWALPageCount

    /// Opens a store to write; makes folder (mode 0700), file (0600) and tables where they are missing.
    ///
    /// - Parameters:
    ///   - commitsAreSynced: Whether a write waits for the disk (`synchronous=FULL`), so that it outlives a power cut.
    ///   - clock: Names a damaged file that has to be moved out of the way.
    /// - Throws: What is in the way: no permission, a folder in place of the file, not a store, a newer version.
    package convenience init(
        _ place: ResolvedLocation, commitsAreSynced: Bool = false, clock: any TransactionClock = SystemClock()
    ) throws(WaybillError) {
        try self.init(place, lock: nil, commitsAreSynced: commitsAreSynced, clock: clock)
    }

    init(
        _ place: ResolvedLocation, lock: FileLock?, commitsAreSynced: Bool = false, clock: any TransactionClock
    ) throws(WaybillError) {
        self.place = place
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
            // So that a new store is one also for those who cannot read its WAL.
            if isNew, let path = place.path {
                try connection.checkpoint(.truncate)
                // SQLite has no locks on this one.
                StoreFolder.excludeFromBackup(URL(filePath: path + "-wal"))
            }
        }
        files = StoreFiles(of: place)
    }

    /// Opens a store again that this process has opened before, and closed: nothing has to be made, and no lock is taken.
    ///
    /// - Parameter lock: Of the store when it was open before.
    init(again place: ResolvedLocation, lock: FileLock) throws(WaybillError) {
        self.place = place
        self.lock = lock
        file = place.path.map { StoreFile(path: $0) }
        identity = file?.identity
        connection = try Connection(place.uri(), .readWrite, at: place.description, patience: lock.patience)
        // The first connection rebuilds the WAL's index. Under the lock, so that other processes do not run into one that
        // was suspended while it did so. Where the lock is taken, another connection is open, and there is nothing to do.
        let isLocked = lock.acquireIfFree()
        defer { if isLocked { lock.release() } }
        try setUp()
        files = StoreFiles(of: place)
    }

    private func setUp(commitsAreSynced: Bool = false) throws(WaybillError) {
        // What is erased must be gone from the file's bytes, also where a page was split before.
        try connection.execute("PRAGMA secure_delete = ON")
        try connection.execute("PRAGMA synchronous = \(commitsAreSynced ? "FULL" : "NORMAL")")
        // A WAL that became long while readers were in the way is cut when it begins anew.
        try connection.execute("PRAGMA journal_size_limit = \(2 * Self.checkpointPageCount * 4_096)")
    }

    /// Puts a store that was made of a damaged one into its place, where that was interrupted.
    private static func finishSalvage(_ file: StoreFile, _ lock: FileLock?, at wall: Int64) throws(WaybillError) {
        guard file.hasSuccessor else { return }
        try lock?.acquire()
        defer { lock?.release() }
        try file.succeed(at: wall)
    }

    /// Where its journals lie.
    var journalFolder: URL? {
        place.journalFolder ?? file.map { URL(filePath: $0.path).deletingLastPathComponent() }
    }

    /// Whether the files that are open are still the ones of that name: SQLite goes on writing to deleted ones.
    var isInPlace: Bool { StoreFiles(of: place) == files }

    /// Makes an empty file, so that it gets its mode before there is anything in it.
    private static func prepare(_ path: String) throws(WaybillError) {
        // Exclusive, because a file that is there must not be opened here: closing it would drop the locks of SQLite in
        // this process.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
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

    /// Throws where the disk has no room for as much as a set takes, beside the store.
    package func checkRoom() throws(WaybillError) {
        guard let path = place.path else { return }
        do throws(WaybillError) {
            // Never renamed: gone at the end of this. Drawn at random, since a disk may compress.
            let probe = try PartialFile(URL(filePath: path + "-room"))
            var random = SystemRandomNumberGenerator()
            let words = (0..<8_192).map { _ in random.next() }
            try probe.write(words.withUnsafeBytes { Array($0) })
        } catch {
            throw WaybillError(.store, error.message, cause: error.cause)
        }
    }

    /// One SQLite transaction under the lock between processes, and a checkpoint when the WAL has grown.
    ///
    /// Within another one it is a part of that.
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
                // What was counted within it did not come to stay.
                nameCount = nil
                throw error
            }
            checkpointIfDue()
            return result
        }
    }

    /// Checkpoints when the WAL has grown. What was asked for is committed: a checkpoint that fails now is tried again after
    /// the next write.
    ///
    /// Where reads overlap, some reader is always in the way of a passive checkpoint, and SQLite appends to the WAL on and
    /// on. So once it is long, a checkpoint waits a moment for the readers that are under way, while new ones read the
    /// database file alone.
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

    /// Bytes that the WAL takes on the disk.
    package var walByteCount: Int64 {
        var status = stat()
        guard let path = place.path, stat(path + "-wal", &status) == 0 else { return 0 }
        return Int64(status.st_size)
    }

    /// Bytes that rows and indexes may take for the store's files to stay within a limit, the WAL among them.
    ///
    /// Where they are beyond it, the WAL is emptied first. Where readers are in the way of that, rows make room, but never
    /// more than half.
    ///
    /// - Returns: `nil` if the files are within the limit.
    func rowByteLimit(within limit: Int64) throws(WaybillError) -> Int64? {
        guard try connection.usedByteCount() + walByteCount > limit else { return nil }
        if walByteCount > 0 {
            _ = try? locked { () throws(WaybillError) -> Int in try connection.checkpoint(.truncate, waiting: 0) }
        }
        guard try connection.usedByteCount() + walByteCount > limit else { return nil }
        // Room for the WAL of the next writes, so that not each of them has to empty it.
        let reserve = min(Int64(Self.checkpointPageCount) * 4_096, limit / 16)
        return limit - min(max(reserve, walByteCount), limit / 2)
    }

    /// Moves everything from the WAL into the file, synced, and empties the WAL; waits for readers.
    package func checkpoint() throws(WaybillError) {
        _ = try locked { () throws(WaybillError) in try connection.checkpoint(.truncate) }
    }

    /// Waits until everything that was written is on the disk.
    ///
    /// A commit is not, in WAL with `synchronous=NORMAL`, and an empty one is not under FULL either: so a row is
    /// written under FULL.
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
        // The system's SQLite commits with fsync(2), which leaves the bytes in the drive's own buffer; this has the
        // drive empty it. By the WAL, since SQLite has locks on its other files, which closing any descriptor of these
        // would take away.
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

    private func locked<Result>(_ body: () throws(WaybillError) -> Result) throws(WaybillError) -> Result {
        try lock?.acquire()
        defer { lock?.release() }
        return try body()
    }

    // MARK: Settings

    /// What sets show that they are of an installation of this store; nil where it has none.
    func installationProof(of installation: GUID) throws(WaybillError) -> IdentityProof? {
        try InstallationRows(connection: connection).proof(of: installation)
    }

    /// Records under an installation from now on.
    func set(installation: GUID, proof: IdentityProof) throws(WaybillError) {
        try write { () throws(WaybillError) in
            try keep("installation", installation.description)
            try InstallationRows(connection: connection).register(installation, proof: proof)
        }
    }

    /// A value kept with the store, e.g. the installation's ID; nil where none was set.
    package func setting(_ key: String) throws(WaybillError) -> String? {
        try connection.statement("SELECT value FROM settings WHERE key = ?").first(key) { row in row.text(0) }
    }

    /// Keeps a value with the store; nil takes it away.
    package func set(_ key: String, to value: String?) throws(WaybillError) {
        try write { () throws(WaybillError) in
            if let value {
                try keep(key, value)
            } else {
                try connection.statement("DELETE FROM settings WHERE key = ?").run(key)
            }
        }
    }

    private func keep(_ key: String, _ value: String) throws(WaybillError) {
        try connection.statement(
            "INSERT INTO settings(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value"
        ).run(key, value)
    }
}
