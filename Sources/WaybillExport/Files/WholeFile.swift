package import Foundation
package import WaybillCore
import WaybillStore

/// Bytes that become a file at once, which only its owner may read: whole and on the disk, or not at all.
package enum WholeFile {
    /// Reads a file that says what we do; nil where there is none.
    ///
    /// - Throws: `.setting` where it cannot be read, or where somebody else may have put it there.
    package static func read(_ file: URL) throws(WaybillError) -> [UInt8]? {
        let path = file.path(percentEncoded: false)
        do { return try DurableFile.trustedBytes(of: path) } catch {
            let code = (error as? POSIXError)?.code
            throw WaybillError(
                .setting,
                code == .EPERM || code == .ELOOP
                    ? "\(path) is not used: others can write to its folder, and it is a link, or another user's. Move it away."
                    : "\(path) cannot be read. Check its permissions.", cause: error.localizedDescription)
        }
    }

    /// Checks that nobody else can have put a folder there.
    ///
    /// - Throws: `.setting`
    package static func checkFolder(_ folder: URL) throws(WaybillError) {
        guard let reason = DurableFile.reasonToDistrust(folder: folder) else { return }
        throw WaybillError(
            .setting, "The folder \(folder.path(percentEncoded: false)) \(reason). Name another place.")
    }

    /// Writes it in place of one of that name.
    ///
    /// - Parameter bytes: Called when no other writer can come in between.
    /// - Throws: `.setting` where it cannot be written.
    package static func write(to file: URL, _ bytes: () throws(WaybillError) -> [UInt8]) throws(WaybillError) {
        let partial = try PartialFile(file)
        try partial.write(bytes())
        try partial.finish()
    }
}
