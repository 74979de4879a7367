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
                let journal = try RecoveredJournal(mark)
                if let problem = try keep(journal, installation: installation, at: path) { problems.append(problem) }
            } catch {
                problems.append(contentsOf: setAside(path, error))
            }
        }
        return problems
    }

    private func keep(_ journal: RecoveredJournal, installation: GUID?, at path: String) throws(RecoveredJournal.Failure) -> WaybillError? {
        do throws(WaybillError) {
            var source = journal.source
            source.installation = installation
            try register(source)
            let recorded = try connection.integer("SELECT recorded FROM sources WHERE uuid = ?", source.id)
            var rest = journal.facts.drop { $0.sequence <= recorded }
            repeat {
                let facts = Array(rest.prefix(5_000))
                rest = rest.dropFirst(5_000)
                try append(
                    RecordedBatch(
                        source: source.id, facts: facts, names: journal.names, clocks: journal.clocks, refused: journal.refused,
                        recorded: rest.isEmpty ? journal.recorded : 0))
            } while !rest.isEmpty
            try sync()
            unlink(path)
            guard journal.damagedCount > 0 else { return nil }
            return WaybillError(
                .store,
                "The journal \(path) was damaged in \(journal.damagedCount) places; the facts that could not be read are booked as damaged."
            )
        } catch {
            // The journal stays for the next opening.
            return error
        }
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
