package import Foundation
package import WaybillCore
import WaybillStore

/// Bytes that become a file at once, which only its owner may read: whole and on the disk, or not at all.
package enum WholeFile {
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
