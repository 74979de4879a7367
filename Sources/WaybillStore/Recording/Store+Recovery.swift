import Foundation
import WaybillCore

/// Journals of dead processes come in.
extension Store {
    /// Stores what is left in the journals of a folder whose sources no longer run, and takes those journals away.
    ///
    /// What cannot be read is set aside under a name that says so; it is never deleted.
    ///
    /// - Parameter installation: Of the sources that died before the store knew them.
    /// - Returns: Sentences about what was set aside.
    func recoverJournals(in folder: URL, installation: GUID?) throws(WaybillError) -> [WaybillError] {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []).sorted()
        var problems: [WaybillError] = []
        for name in names where name.hasPrefix(LifeMark.prefix) && GUID(name.dropFirst(LifeMark.prefix.count)) != nil {
            let path = folder.appending(path: name).path(percentEncoded: false)
            // Locked: its source runs, or somebody else is recovering it.
            guard let mark = try? LifeMark(path: path) else { continue }
            do throws(RecoveredJournal.Failure) {
                var journal = try RecoveredJournal(mark)
                journal.source.installation = installation
                do throws(WaybillError) {
                    try store(journal)
                    unlink(path)
                    if journal.damagedCount > 0 { problems.append(Self.damage(journal, at: path)) }
                } catch {
                    problems.append(error)  // the journal stays for the next opening
                }
            } catch {
                problems.append(contentsOf: setAside(path, error))
            }
        }
        return problems
    }

    /// Stores what is not in the store yet, synced. What was recorded and is in neither is booked as damaged.
    func store(_ journal: RecoveredJournal) throws(WaybillError) {
        try register(journal.source)
        var recorded = try connection.integer("SELECT recorded FROM sources WHERE uuid = ?", journal.source.id)
        var rest = journal.facts.drop { $0.sequence <= recorded }
        repeat {
            let facts = rest.prefix(5_000)
            rest = rest.dropFirst(5_000)
            let last = max(recorded, facts.last?.sequence ?? 0, rest.isEmpty ? journal.recorded : 0)
            let missing = SequenceRanges(recorded < last ? [recorded + 1...last] : [])
                .subtracting(SequenceRanges(facts.lazy.map { $0.sequence...$0.sequence }))
            try append(
                RecordedBatch(
                    source: journal.source.id, facts: Array(facts), names: journal.names, clocks: journal.clocks,
                    dropped: missing.dropped(.damaged), refused: journal.refused))
            recorded = last
        } while !rest.isEmpty
        try sync()
    }

    private static func damage(_ journal: RecoveredJournal, at path: String) -> WaybillError {
        WaybillError(
            .store,
            "The journal \(path) was damaged in \(journal.damagedCount) places; the facts that could not be read are booked as damaged.")
    }

    private func setAside(_ path: String, _ failure: RecoveredJournal.Failure) -> [WaybillError] {
        let (suffix, reason): (String, String)
        switch failure {
        case .empty:
            unlink(path)
            return []
        case .newer: (suffix, reason) = ("newer", "was written by a newer version of Waybill")
        case .damaged: (suffix, reason) = ("damaged", "is damaged beyond reading")
        }
        rename(path, "\(path).\(suffix)")
        return [WaybillError(.store, "The journal \(path) \(reason); it is kept as \(path).\(suffix).")]
    }
}
