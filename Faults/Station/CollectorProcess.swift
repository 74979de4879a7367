#if Collector
import Foundation
import TestSupport
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// `waybill serve`, which can be killed and is then started again, and the relay in front of it that keeps one address.
final class CollectorProcess: Sendable {
    /// What happens on the way.
    struct Hooks: Sendable {
        /// A set is about to be handed to the collector.
        var onSet: (@Sendable () -> Void)?
        /// The collector has answered, so it has committed; whether the answer is passed on.
        var onAnswer: (@Sendable () -> Bool)?
    }

    let folder: URL
    private let state = Locked(State())
    private let relay: LoopbackServer
    private let link: Link

    private struct State {
        var process: ChildProcess?
    }

    /// The way from the relay to the collector that runs at the moment.
    private final class Link: Sendable {
        let address = Locked<URL?>(nil)
        let hooks = Locked(Hooks())
        let session = URLSession(configuration: .ephemeral)

        func forward(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
            guard let base = address.withLock({ $0 }), let url = URL(string: request.path, relativeTo: base) else { return .closed }
            let hooks = hooks.withLock { $0 }
            var forwarded = URLRequest(url: url)
            forwarded.httpMethod = request.method
            forwarded.httpBody = request.body
            for name in ["Content-Type", "Accept"] { forwarded.setValue(request.header(name), forHTTPHeaderField: name) }
            hooks.onSet?()
            let answer = Locked<(Data, HTTPURLResponse)?>(nil)
            let isDone = DispatchSemaphore(value: 0)
            session.dataTask(with: forwarded) { data, response, _ in
                if let data, let response = response as? HTTPURLResponse { answer.withLock { $0 = (data, response) } }
                isDone.signal()
            }.resume()
            isDone.wait()
            guard let (data, response) = answer.withLock({ $0 }), hooks.onAnswer?() ?? true else { return .closed }
            return LoopbackServer.Response(
                status: response.statusCode, headers: [("Content-Type", response.value(forHTTPHeaderField: "Content-Type") ?? "")],
                body: data)
        }
    }

    init(folder: URL) throws {
        self.folder = folder
        let link = Link()
        self.link = link
        relay = try LoopbackServer { link.forward($0) }
        try start()
    }

    /// Where sets are sent to, whichever process takes them.
    var address: URL { relay.url() }

    var hooks: Hooks {
        get { link.hooks.withLock { $0 } }
        set { link.hooks.withLock { $0 = newValue } }
    }

    private func start() throws {
        let process = try ChildProcess("waybill", ["serve", folder.path(), "--port", "0"])
        guard let line = process.line(), let url = line.split(separator: " ").last.flatMap({ URL(string: String($0)) }) else {
            throw Trouble("The collector did not start.")
        }
        state.withLock { $0.process = process }
        link.address.withLock { $0 = url }
    }

    /// SIGKILL, and a new one on the same folder.
    func killAndRestart() throws {
        kill()
        try start()
    }

    func kill() {
        let process = state.withLock { $0.process }
        process?.kill()
    }

    /// Ends it in order, so that its store can be read.
    func stop() {
        let process = state.withLock { $0.process }
        process?.terminate()
        _ = process?.finish()
        relay.stop()
    }
}
#endif
