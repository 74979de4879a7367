package import Foundation
package import WaybillCore
package import WaybillStore

extension StoreReader {
    /// Makes a copy of one file, as the store is at this moment, while others may write to it; bodies stay where they
    /// are. It is synced and checked whole before this returns.
    ///
    /// - Returns: What the check has found, which is no problem.
    /// - Throws: `.damaged` where the copy is not sound; also when there is a file already, or no room.
    package func backUp(to file: URL) throws(WaybillError) -> StoreVerification {
        try connection.snapshot(to: file, keepsProofs: true)
        let path = file.path(percentEncoded: false)
        do {
            // SQLite does not: sqlite.org/lang_vacuum.html, "VACUUM with an INTO clause".
            try DurableFile.withDescriptor(of: path, O_RDONLY, DurableFile.sync)
        } catch {
            throw WaybillError(.store, "The copy \(path) cannot be written to the disk.", cause: "\(error)")
        }
        let verification = try StoreReader(.file(file)).verify()
        guard verification.isSound else {
            throw WaybillError(
                .damaged, "The copy of \(connection.place) is not sound. See what `waybill verify` says of the store.",
                cause: verification.problems.first)
        }
        return verification
    }
}
