import Foundation
package import WaybillCore
import WaybillStore

/// Where exports go that name no file.
package enum StandardOutput {
    /// - Throws: `.setting` where it is not read any more, or has no room.
    @Sendable package static func write(_ bytes: [UInt8]) throws(WaybillError) {
        do {
            try DurableFile.write(bytes, to: STDOUT_FILENO)
        } catch {
            throw WaybillError(.setting, "Standard output cannot be written.", cause: "\(error)")
        }
    }
}
