import WaybillCore
import WaybillStore

// Clearing what was recorded, and starting over as another installation.
extension TransactionManager {
    /// Erases what was recorded until now: the rows at once, and their bytes from the files.
    ///
    /// What was not delivered yet is told to the collector as a count, no more. What was delivered is not taken back:
    /// erase it there, too. A transaction that is still open goes as well, and what its handle records later is booked
    /// as erased; unless its beginning was delivered already: then what follows is recorded and delivered as before, or
    /// the collector would never see it end. Another process that records into the same store keeps what it recorded in
    /// its own journal for up to five seconds. Uploads in the background that hold erased facts end. With everything, and with the installation, the ``context`` goes, too,
    /// with what was remembered of it.
    ///
    /// - Returns: What was there to erase.
    /// - Throws: ``WaybillCore/WaybillError`` when the store cannot be written; or when the rows are gone, and a reader
    ///   of the store keeps the bytes: then erase once more.
    @discardableResult
    public func erase(_ selection: ErasureSelection) async throws -> Erasure {
        switch selection {
        case .all, .installation: try sources.context.forget()
        case .ids, .before, .networkLogs: break
        }
        let isEverything = selection == .all
        guard let source = await sources.drainedSource() else {
            if isEverything { sources.noteErasure(from: nil, isEverything: true) }
            return Erasure()
        }
        defer { sources.changes.tell(.reload) }
        let wall = source.settings.clock.wallMicroseconds()
        for source in sources.liveForerunners {
            try await source.writer.run { _, store in try source.writer.scrubJournal(store) }
        }
        return try await source.writer.run { [sources] opened, store in
            // Also where the rows are gone and their bytes are not yet: what is under way holds them, too.
            defer { sources.noteErasure(from: store, isEverything: isEverything) }
            let scope = selection.scope(installation: opened.source.installation)
            return try source.writer.erase(scope, from: store, at: wall)
        }
    }

    /// Records under a new, random installation ID from now on, so that nothing ties what follows to what was before.
    ///
    /// What was recorded stays, under the old ID: erase it first if it is to go. Handles from before go on under the
    /// old ID, too; the ``context`` is empty from now on. Does nothing where nothing was ever recorded: there is no ID yet.
    ///
    /// - Throws: ``WaybillCore/WaybillError`` when the store cannot be written; then the ID is what it was.
    public func resetInstallation() async throws { try await sources.renewInstallation() }
}
