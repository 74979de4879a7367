#if Collector
import Foundation
import WaybillCore
import WaybillStore

/// Where exports go that name no file.
enum StandardOutput {
    /// - Throws: Where it is not read any more, or has no room.
    @Sendable static func write(_ bytes: [UInt8]) throws {
        do {
            try DurableFile.write(bytes, to: STDOUT_FILENO)
        } catch {
            throw WaybillError(.setting, "Standard output cannot be written.", cause: "\(error)")
        }
    }
}
#endif
