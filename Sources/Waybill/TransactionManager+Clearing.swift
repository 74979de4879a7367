import WaybillCore

// Clearing what was recorded, and starting over as somebody else.
extension TransactionManager {
    /// Records under a new, random installation ID from now on, so that nothing ties what follows to what was before.
    ///
    /// What was recorded stays, under the old ID: erase it first if it is to go. Handles from before go on under the old ID, too. Does
    /// nothing where nothing was ever recorded: there is no ID yet.
    ///
    /// - Throws: ``WaybillError`` when the store cannot be written; then the ID is what it was.
    public func resetInstallation() async throws { try await sink.renewInstallation() }
}
