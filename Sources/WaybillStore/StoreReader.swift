import Foundation
package import WaybillCore

/// The reading end of a store: a read-only connection, confined to a ``StoreThread``.
///
/// It never creates, migrates or repairs anything. Each call sees one state of the store.
package final class StoreReader {
    package let connection: Connection
    private let place: ResolvedLocation
    private let hold: AnyObject?
    /// Sentences to read before trusting the data.
    package let warnings: [String]
    package let newestExchanges = NewestExchanges()

    /// - Throws: `.notFound` if there is no store; `.store` if it cannot be read or comes from a newer version.
    package convenience init(_ place: ResolvedLocation) throws(WaybillError) {
        try self.init(place, patience: nil, activity: .system)
    }

    /// While the reader of a shared store lives, `activity` prevents suspension.
    init(_ place: ResolvedLocation, patience: Patience?, activity: ExpiringActivity?) throws(WaybillError) {
        self.place = place
        hold = try place.hold(by: activity)
        guard let path = place.path else {
            connection = try Connection(place.uri(), .readOnly, at: place.description)
            warnings = []
            try Schema.checkCurrent(connection)
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
    }

    /// Returns an empty store in memory if the one at the path was never finished; otherwise, `nil`.
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
                ? "" : " Its \(journalCount) journals hold recorded facts that no program has stored yet."
            throw WaybillError(
                .notFound,
                "The folder \(folder.path(percentEncoded: false)) holds no Waybill store: there is no \(URL(filePath: path).lastPathComponent) in it.\(journals)"
            )
        }
        throw WaybillError(.notFound, "There is no store at \(path).")
    }

    private static func openBesideWriter(_ place: ResolvedLocation, _ patience: Patience?) throws(WaybillError) -> (
        Connection, [String]
    ) {
        let connection = try Connection(place.uri(), .readOnly, at: place.description, patience: patience)
        do throws(WaybillError) {
            try Schema.checkCurrent(connection)
            return (connection, [])
        } catch {
            // Reading a WAL needs a shared-memory file, which SQLite can't create in a read-only folder
            // (sqlite.org/wal.html, "Read-Only Databases").
            guard connection.lacksSideFiles else { throw error }
            let immutable = try Connection(place.uri(isImmutable: true), .readOnly, at: place.description)
            try Schema.checkCurrent(immutable)
            let warning =
                "The folder of \(place.description) cannot be written, so its WAL file cannot be read: the latest facts may be missing."
            return (immutable, [warning])
        }
    }

    private static func openWithoutWAL(_ place: ResolvedLocation) throws(WaybillError) -> (Connection, [String]) {
        let connection = try Connection(place.uri(isImmutable: true), .readOnly, at: place.description)
        try Schema.checkCurrent(connection)
        guard connection.isWriteAheadLogged else { return (connection, []) }
        // Another program that closed the store last may have removed the WAL without a loss.
        let warning =
            "\(place.description) has no WAL file (\(place.description)-wal) beside it. If it was copied without, the latest facts are missing: "
            + "copy both, or make a snapshot."
        return (connection, [warning])
    }

    /// Runs `body` on one state of the store; a nested read sees the state of the outer one.
    package func read<Result>(_ body: () throws(WaybillError) -> Result) throws(WaybillError) -> Result {
        connection.isInTransaction ? try body() : try connection.transaction("BEGIN", body)
    }

    package func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try read { () throws(WaybillError) in Swift.Result(catching: body) }.get()
    }

    /// Runs `body` until `interruption` ends its statements, and then throws the interruption's error.
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

    /// Returns how many further connections are worth opening to read the whole store.
    package func otherCount() throws(WaybillError) -> Int {
        try byteCount() < 8 << 20 ? 0 : min(ProcessInfo.processInfo.activeProcessorCount, 16) - 1
    }

    /// Opens connections for other threads, which may see other states of the store; none in memory.
    package func others(_ count: Int) throws(WaybillError) -> [Connection] {
        guard place.path != nil else { return [] }
        var others: [Connection] = []
        for _ in 0..<count { others.append(try connection.another()) }
        return others
    }

    /// Runs `body` with up to `count` further connections that see the same state; none in memory or within a read.
    package func read<Result>(
        withOthers count: Int, _ body: ([Connection]) throws(WaybillError) -> Result
    ) throws(WaybillError) -> Result {
        let opened = connection.isInTransaction ? [] : try others(count)
        // A connection sees the same state if its version does not change while this one begins to read.
        var others: [(connection: Connection, version: Int64)] = []
        for other in opened { others.append((other, try other.dataVersion())) }
        return try read { () throws(WaybillError) in
            _ = try connection.dataVersion()
            return try Self.read(by: others[...], and: [], body)
        }
    }

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

    package func byteCount() throws(WaybillError) -> Int64 {
        try connection.integer("PRAGMA page_count") * connection.integer("PRAGMA page_size")
    }
}
