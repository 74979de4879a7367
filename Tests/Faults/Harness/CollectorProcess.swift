#if Collector
import Foundation
import TestSupport
import WaybillCore

/// A `waybill serve` that can be killed and restarted, behind a relay that keeps one address.
final class CollectorProcess: Sendable {
    let folder: URL
    private let process = Locked<ChildProcess?>(nil)
    private let relay: LoopbackServer
    private let link: CollectorLink

    init(folder: URL) throws {
        self.folder = folder
        let link = CollectorLink()
        self.link = link
        relay = try LoopbackServer { link.forward($0) }
        try start()
    }

    /// The address for sets, whichever process receives them.
    var address: URL { relay.url() }

    var hooks: CollectorLink.Hooks {
        get { link.hooks.withLock { $0 } }
        set { link.hooks.withLock { $0 = newValue } }
    }

    private func start() throws {
        let process = try ChildProcess("waybill-cli", ["serve", folder.path(), "--port", "0", "--insecure"])
        guard let line = process.line(), let url = line.split(separator: " ").last.flatMap({ URL(string: String($0)) })
        else {
            throw Trouble("The collector did not start.")
        }
        self.process.withLock { $0 = process }
        link.address.withLock { $0 = url }
    }

    /// Kills the process with SIGKILL, and starts a new one on the same folder.
    ///
    /// - Parameter meanwhile: Called while no process runs.
    func killAndRestart(_ meanwhile: () throws -> Void = {}) throws {
        kill()
        try meanwhile()
        try start()
    }

    func kill() {
        link.address.withLock { $0 = nil }
        let process = process.withLock { $0 }
        process?.kill()
    }

    /// Ends the process gracefully: its store can be read afterwards.
    func stop() {
        let process = process.withLock { $0 }
        process?.terminate()
        _ = process?.finish()
        relay.stop()
    }
}
#endif
