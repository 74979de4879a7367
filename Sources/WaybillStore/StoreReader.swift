import Foundation
package import WaybillCore

/// The reading end of a store: lists, whole transactions, ledgers, and a check of it all.
///
/// A read-only connection, confined to one serial thread (``StoreThread``); it never makes, migrates or repairs
/// anything. Each call sees one state of the store, however much is written meanwhile.
package final class StoreReader {
    package let connection: Connection
    private let place: ResolvedLocation
    /// What a person should know before trusting what is read; each one sentence. Empty: nothing.
    package let warnings: [String]
    /// What lists of exchanges have asked of sources so far.
    package let newestExchanges = NewestExchanges()

    /// Opens a store to read.
    ///
    /// - Throws: `.notFound` where there is nothing; `.store` for what is not a store, cannot be read, or comes from a
    ///   newer version.
    package convenience init(_ place: ResolvedLocation) throws(WaybillError) { try self.init(place, patience: nil) }

    /// - Parameter patience: What limits the waits for other processes; confined to the same thread.
    init(_ place: ResolvedLocation, patience: Patience?) throws(WaybillError) {
        self.place = place
        guard let path = place.path else {
            connection = try Connection(place.uri(), .readOnly, at: place.description)
            warnings = []
            try Schema.check(connection)
            connection.absentColumns = try Schema.absentColumns(of: connection)
            return
        }
        try Self.checkPresence(of: place, path)
        if let empty = try Self.emptyStore(inPlaceOf: place, path, patience) {
            (connection, warnings) = empty
            return
        }
        if FileManager.default.fileExists(atPath: path + "-wal") {
            (connection, warnings) = try Self.openBesideWriter(place, patience)
        } else {
            (connection, warnings) = try Self.openWithoutWAL(place)
        }
        connection.absentColumns = try Schema.absentColumns(of: connection)
    }

    /// An empty store in memory, in place of one that was never finished; `nil` if that at a path is finished.
    private static func emptyStore(
        inPlaceOf place: ResolvedLocation, _ path: String, _ patience: Patience?
    ) throws(WaybillError) -> (Connection, [String])? {
        // With its tables, a store has a few hundred times as many bytes.
        guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int, size <= 64 << 10,
            let unfinished = try? Connection(
                place.uri(), .readOnly, at: place.description, patience: patience),
            (try? Schema.isUnfinished(unfinished)) == true
        else { return nil }
        let memory = ResolvedLocation.memory(name: GUID().description)
        let connection = try Connection(memory.uri(), .create, at: place.description)
        _ = try connection.transaction { () throws(WaybillError) in try Schema.migrate(connection) }
        let warning =
            "The store at \(place.description) is not finished: the process that was making it has ended. The app finishes it at its next launch."
        return (connection, [warning])
    }

    private static func checkPresence(of place: ResolvedLocation, _ path: String) throws(WaybillError) {
        if ResolvedLocation.isFolder(URL(filePath: path)) {
            throw WaybillError(.store, "\(path) is a folder, and a store's file was expected.")
        }
        guard !FileManager.default.fileExists(atPath: path) else { return }
        if let folder = place.folder, ResolvedLocation.isFolder(folder) {
            let journalCount = LockedJournalFile.sources(in: folder).count
            let journals =
                journalCount == 0
                ? "" : " Its \(journalCount) journals hold what short programs recorded; the next launch stores it."
            throw WaybillError(
                .notFound,
                "The folder \(folder.path(percentEncoded: false)) holds no Waybill store: there is no \(URL(filePath: path).lastPathComponent) in it.\(journals)"
            )
        }
        throw WaybillError(.notFound, "There is no store at \(path).")
    }

    /// The store of a writer that runs, or has run here.
    private static func openBesideWriter(_ place: ResolvedLocation, _ patience: Patience?) throws(WaybillError) -> (
        Connection, [String]
    ) {
        let connection = try Connection(place.uri(), .readOnly, at: place.description, patience: patience)
        do throws(WaybillError) {
            try Schema.check(connection)
            return (connection, [])
        } catch {
            // A WAL is read through a shared-memory file, which cannot be made in a folder that cannot be written
            // (sqlite.org/wal.html, "Read-Only Databases").
            guard connection.lacksSideFiles else { throw error }
            let immutable = try Connection(place.uri(isImmutable: true), .readOnly, at: place.description)
            try Schema.check(immutable)
            let warning =
                "The folder of \(place.description) cannot be written, so its WAL file cannot be read: the latest facts may be missing."
            return (immutable, [warning])
        }
    }

    /// A snapshot, or a copy of a store that lost its WAL. Opened so that SQLite makes no files beside it.
    private static func openWithoutWAL(_ place: ResolvedLocation) throws(WaybillError) -> (Connection, [String]) {
        let connection = try Connection(place.uri(isImmutable: true), .readOnly, at: place.description)
        try Schema.check(connection)
        guard connection.isWriteAheadLogged else { return (connection, []) }
        // Another program that was the last to close the store has taken the WAL away, too, and then nothing is
        // missing.
        let warning =
            "\(place.description) has no WAL file (\(place.description)-wal) beside it. If it was copied without, the latest facts are missing: "
            + "copy both, or make a snapshot."
        return (connection, [warning])
    }

    /// Runs `body` on one state of the store; within a read that is under way, on the state of that.
    package func read<Result>(_ body: () throws(WaybillError) -> Result) throws(WaybillError) -> Result {
        connection.isInTransaction ? try body() : try connection.transaction("BEGIN", body)
    }

    /// As `read`, for a body that throws more than the store does.
    package func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try read { () throws(WaybillError) in Swift.Result(catching: body) }.get()
    }

    /// Runs `body`, whose statements end before they are done once `interruption` says so.
    ///
    /// - Throws: What the interruption says, where a statement was ended, whatever `body` made of it.
    package func reading<Result>(until interruption: Interruption, _ body: () throws -> Result) throws -> Result {
        connection.interruption = interruption
        defer {
            connection.interruption = nil
            connection.forgetLongStatement()
        }
        let result = Swift.Result(catching: body)
        if let error = interruption.error { throw error }
        return try result.get()
    }

    /// How many connections besides this one are worth opening for what reads all of the store: for as many threads as
    /// there are processors, up to a number that still takes little memory. None where there is little to read.
    package func otherCount() throws(WaybillError) -> Int {
        try byteCount() < 8 << 20 ? 0 : min(ProcessInfo.processInfo.activeProcessorCount, 16) - 1
    }

    /// Further connections, each for another thread, which may see other states of the store; none in memory.
    package func others(_ count: Int) throws(WaybillError) -> [Connection] {
        guard place.path != nil else { return [] }
        var others: [Connection] = []
        for _ in 0..<count { others.append(try connection.another()) }
        return others
    }

    /// Runs `body` on one state of the store, with further connections that see the same one, each for another thread.
    ///
    /// - Parameters:
    ///   - count: How many are wanted.
    ///   - body: Given fewer where there are no more: none in memory, and within a read that is under way; and none that
    ///     was opened before the store was written to.
    package func read<Result>(
        withOthers count: Int, _ body: ([Connection]) throws(WaybillError) -> Result
    ) throws(WaybillError) -> Result {
        let opened = connection.isInTransaction ? [] : try others(count)
        // What each sees before the first one's state is taken, and after: where nothing was committed between, that is
        // what the first sees.
        var others: [(connection: Connection, version: Int64)] = []
        for other in opened { others.append((other, try other.dataVersion())) }
        return try read { () throws(WaybillError) in
            _ = try connection.dataVersion()
            return try Self.read(by: others[...], and: [], body)
        }
    }

    /// - Parameter same: Those that see the same state.
    private static func read<Result>(
        by others: ArraySlice<(connection: Connection, version: Int64)>, and same: [Connection],
        _ body: ([Connection]) throws(WaybillError) -> Result
    ) throws(WaybillError) -> Result {
        guard let (other, version) = others.first else { return try body(same) }
        return try other.transaction("BEGIN") { () throws(WaybillError) in
            let isSame = try other.dataVersion() == version
            return try read(by: others.dropFirst(), and: isSame ? same + [other] : same, body)
        }
    }

    /// How large the store is, in bytes.
    package func byteCount() throws(WaybillError) -> Int64 {
        try connection.integer("PRAGMA page_count") * connection.integer("PRAGMA page_size")
    }
}
