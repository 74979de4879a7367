import Foundation
package import WaybillCore

extension Store {
    /// Stores the journals that programs left in a store's folder when they ended, so that a reader of the store sees them.
    ///
    /// A program of a few milliseconds leaves its journal to the next launch. Does nothing while a program runs whose
    /// journal is in the folder: it stores the others' itself.
    package static func recoverJournals(
        at place: ResolvedLocation, clock: any TransactionClock = SystemClock()
    ) throws(WaybillError) {
        guard case .folder(let folder, nil) = place else { return }
        let sources = LockedJournalFile.sources(in: folder)
        guard !sources.isEmpty, !sources.contains(where: { LockedJournalFile.isLocked(for: $0, in: folder) }) else {
            return
        }
        let store = try Store(place, clock: clock)
        let installation = try store.installation(or: nil, proof: IdentityProof()).id
        let problems = try store.recoverJournals(in: folder, installation: installation)
        let now = Moment(clock)
        _ = try store.endSources { $0.isOfNoProcess || Heartbeat.isBeating($0, in: folder, at: now) }
        if let problem = problems.first { throw problem }
    }

    /// The first call keeps the proposed ID and proof.
    func installation(
        or proposed: GUID?, proof: IdentityProof
    ) throws(WaybillError) -> (id: GUID, proof: IdentityProof) {
        let known = try setting("installation").flatMap { GUID($0) }
        if let known, let itsProof = try connection.installationProof(of: known) { return (known, itsProof) }
        let installation = known ?? proposed ?? GUID()
        try write { () throws(WaybillError) in
            try connection.set("installation", to: installation.description)
            try connection.registerInstallation(installation, proof: proof)
        }
        // A power cut must not lose the ID and the proof of sets that are already sent.
        try sync()
        return (installation, proof)
    }

    /// Stores the facts of journals whose sources have ended, deletes these journals, and returns the problems.
    ///
    /// Unreadable journals are renamed and kept for later versions of Waybill, until an erasure deletes them. `gone`
    /// receives each source whose journal no longer exists.
    func recoverJournals(
        in folder: URL, installation: GUID?, gone: (GUID) -> Void = { _ in }
    ) throws(WaybillError) -> [WaybillError] {
        var problems: [WaybillError] = []
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? [])
            .sorted()
        for name in names where name.hasPrefix(LockedJournalFile.prefix) {
            let isAside = name.hasSuffix(LockedJournalFile.newerSuffix)
            let digits = name.dropFirst(LockedJournalFile.prefix.count)
            guard let source = GUID(isAside ? digits.dropLast(LockedJournalFile.newerSuffix.count) : digits) else {
                continue
            }
            let path = folder.appending(path: name).path(percentEncoded: false)
            // A locked journal's source runs, or another process recovers it.
            guard let lockedFile = try? LockedJournalFile(path: path) else { continue }
            do throws(RecoveredJournal.Failure) {
                let journal = try RecoveredJournal(lockedFile)
                journal.source.installation = installation
                do throws(WaybillError) {
                    let damagedCount = try store(journal)
                    unlink(path)
                    if damagedCount > 0 { problems.append(Self.damage(in: damagedCount, of: path)) }
                } catch {
                    problems.append(error)  // the journal stays for the next opening
                }
            } catch {
                if case .newer = error, isAside { continue }
                problems.append(contentsOf: setAside(path, error))
            }
            if !LockedJournalFile.isThere(for: source, in: folder) { gone(source) }
        }
        return problems
    }

    /// Deletes unreadable journals, because their facts can't be erased one by one.
    func removeJournalsSetAside() {
        guard let folder = journalFolder else { return }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
        for name in names where name.hasPrefix(LockedJournalFile.prefix) {
            guard [Self.damagedSuffix, LockedJournalFile.newerSuffix].contains(where: name.hasSuffix) else { continue }
            unlink(folder.appending(path: name).path(percentEncoded: false))
        }
    }

    private static let damagedSuffix = ".damaged"

    private static let recoveryBatch = 5_000

    /// Stores a journal's missing facts, books unreadable ones as damaged, and returns the number of damaged places.
    @discardableResult
    func store(_ journal: RecoveredJournal) throws(WaybillError) -> Int {
        try register(journal.source, proof: journal.proof ?? IdentityProof())
        var recorded = try connection.integer("SELECT recorded FROM sources WHERE uuid = ?", journal.source.id)
        var isRead = false
        while !isRead {
            let read = journal.next(limit: Self.recoveryBatch)
            isRead = read.count < Self.recoveryBatch
            let facts = read.filter { $0.sequence > recorded }
            let last = max(recorded, facts.last?.sequence ?? 0, isRead ? journal.recorded : 0)
            let missing = SequenceRanges(recorded < last ? [recorded + 1...last] : []).subtracting(facts.sequences)
            try append(
                RecordedBatch(
                    source: journal.source.id, facts: facts, names: journal.names, clocks: journal.clocks,
                    dropped: missing.dropped(.damaged), refused: journal.refused))
            journal.names = []
            recorded = last
        }
        if let end = journal.end { try note(end, of: journal.source.id) }
        try sync()
        return journal.damagedCount
    }

    private static func damage(in count: Int, of path: String) -> WaybillError {
        WaybillError(
            .store,
            "The journal \(path) was damaged in \(count) places; the facts that could not be read are booked as damaged."
        )
    }

    private func setAside(_ path: String, _ failure: RecoveredJournal.Failure) -> [WaybillError] {
        let (suffix, reason): (String, String)
        switch failure {
        case .empty:
            unlink(path)
            return []
        case .newer: (suffix, reason) = (LockedJournalFile.newerSuffix, "was written by a newer version of Waybill")
        case .damaged: (suffix, reason) = (Self.damagedSuffix, "is damaged beyond reading")
        }
        let aside = path + suffix
        guard rename(path, aside) == 0 else {
            return [
                WaybillError(
                    .store,
                    "The journal \(path) \(reason), and could not be renamed to \(aside). Check the permissions of its folder.",
                    cause: String(cString: strerror(errno)))
            ]
        }
        return [WaybillError(.store, "The journal \(path) \(reason); it is kept as \(aside).")]
    }
}

extension Store {
    /// Moves the facts of a source from a store in memory. Its leased facts become pending again.
    func adopt(_ source: GUID, from memory: ResolvedLocation) throws(WaybillError) {
        try connection.statement("ATTACH ? AS memory").run(memory.uri())
        defer { try? connection.execute("DETACH memory") }
        try write { () throws(WaybillError) in
            let here = try connection.integer("SELECT id FROM main.sources WHERE uuid = ?", source)
            try connection.execute("DELETE FROM memory.ranges WHERE lease IS NOT NULL")
            // The store in memory has no other source.
            for table in Tables.bySource where table != "arrivals" {
                // `pragma_table_info` omits computed columns.
                let names = try connection.statement("SELECT name FROM pragma_table_info(?)").rows(table) { row in
                    row.text(0)
                }
                let columns = names.joined(separator: ", ")
                try connection.execute(
                    """
                    UPDATE memory.\(table) SET source = \(here);
                    INSERT OR IGNORE INTO main.\(table)(\(columns)) SELECT \(columns) FROM memory.\(table)
                    """)
            }
            try connection.execute(
                """
                INSERT OR IGNORE INTO main.bodies(source, exchange, direction, piece, content_type, kept_bytes, byte_count, omission, bytes) \
                SELECT \(here), exchange, direction, piece, content_type, kept_bytes, byte_count, omission, bytes FROM memory.bodies ORDER BY id;
                INSERT OR IGNORE INTO main.names SELECT * FROM memory.names;
                UPDATE main.sources SET (recorded, refused, delivered, news) = (SELECT recorded, refused, delivered, 1 FROM memory.sources) \
                WHERE id = \(here)
                """)
        }
    }
}
