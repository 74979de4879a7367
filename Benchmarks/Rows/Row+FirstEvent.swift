import Foundation
import Waybill
import WaybillCore
import WaybillStore

extension Row {
    /// The time from a manager's first `begin`, in a folder that does not exist yet, until `log` reports a journaled
    /// event.
    static let firstEvent = Row("firstEvent", unit: "µs", against: "creating and syncing an empty file") {
        let folder = FileManager.default.temporaryDirectory.appending(path: "waybill-bench-\(GUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var managers: [TransactionManager] = []
        defer { managers = [] }
        // Nanoseconds divided by a thousand operations are microseconds.
        return try Comparison.nanoseconds(operations: 1_000, rounds: 31) {
            managers.append(TransactionManager(store: .directory(folder.appending(path: "\(GUID())"))))
        } of: {
            guard let login = managers.last?.begin(Login.self) else { return 0 }
            var count = 1
            while login.log(.initiated) != .journaled {
                count += 1
                guard count < 1_000_000 else { throw WaybillError(.store, "The first event was not journaled.") }
            }
            return count
        } against: {
            let file = folder.appending(path: "\(GUID())").path(percentEncoded: false)
            try DurableFile.withDescriptor(of: file, O_RDWR | O_CREAT, DurableFile.sync)
            return 1
        }
    }
}
