#if ClickHouse
import Foundation
import WaybillCore
import WaybillReading
import WaybillStore

/// A copy of what the database holds, in a SQLite store of this process, that answers what is read.
///
/// In a temporary folder, which goes with it; what a process leaves that was killed, the next one takes away.
final class Replica: Sendable {
    let store: SQLiteStore
    private let thread: StoreThread<Store>
    private let folder: URL

    init(clock: any TransactionClock) throws(WaybillError) {
        Self.removeLeftOver()
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "\(Self.prefix)\(ProcessInfo.processInfo.processIdentifier)-\(GUID())", directoryHint: .isDirectory)
        self.folder = folder
        thread = try StoreThread(label: "waybill.replica") { () throws(WaybillError) in try Store(.folder(folder)) }
        store = try SQLiteStore(.folder(folder), clock: clock)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs `body` after what was asked for before.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Store) throws(WaybillError) -> Value)
        async throws(WaybillError) -> Value
    {
        try await thread.run { store throws(WaybillError) in try body(store) }
    }

    private static let prefix = "waybill-clickhouse-"

    private static func removeLeftOver() {
        let temporary = FileManager.default.temporaryDirectory
        let names = (try? FileManager.default.contentsOfDirectory(atPath: temporary.path(percentEncoded: false))) ?? []
        for name in names where name.hasPrefix(prefix) {
            guard let process = pid_t(name.dropFirst(prefix.count).prefix { $0.isNumber }), process > 0,
                kill(process, 0) != 0, errno == ESRCH
            else { continue }
            try? FileManager.default.removeItem(at: temporary.appending(path: name))
        }
    }
}
#endif
