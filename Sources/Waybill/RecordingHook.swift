import WaybillCore

/// Asks the app about what is about to be recorded: ``TransactionManager/Options/willRecord``.
struct RecordingHook: Sendable {
    /// Whether the app is being asked here. What it records while it answers is recorded without asking again, since it
    /// would be asked without end; so is what tasks record that it starts then.
    @TaskLocal static var isAsking = false

    let willRecord: @Sendable (RecordingDraft) -> RecordingDraft?
    let counters: Counters

    /// What the app makes of it, of the same case; nil: it is withheld, and counted.
    func ask(_ draft: RecordingDraft) -> RecordingDraft? {
        let changed = Self.$isAsking.withValue(true) { willRecord(draft) }
        guard let changed, changed.isOfKind(of: draft) else {
            counters.add(to: \.withheld)
            return nil
        }
        return changed
    }
}
