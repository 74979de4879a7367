#if Collector
import Foundation
import TestSupport
import WaybillCore

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

        func forward(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
            guard let port = address.withLock({ $0?.port }) else { return .closed }
            let hooks = hooks.withLock { $0 }
            hooks.onSet?()
            guard let answer = answer(to: request, from: port), hooks.onAnswer?() ?? true else { return .closed }
            return LoopbackServer.Response(
                status: answer.status, headers: [("Content-Type", answer.header("Content-Type") ?? "")], body: answer.body)
        }

        /// nil where the collector was killed before it had answered.
        private func answer(to request: LoopbackServer.Request, from port: Int) -> RawClient.Response? {
            let answer = Locked<RawClient.Response?>(nil)
            let isDone = DispatchSemaphore(value: 0)
            Task {
                var fields = ["Content-Type": request.header("Content-Type") ?? ""]
                fields["Content-Encoding"] = request.header("Content-Encoding")
                let response = try? await RawClient.send(request.method, request.path, to: port, headers: fields, body: request.body)
                answer.withLock { $0 = response }
                isDone.signal()
            }
            isDone.wait()
            return answer.withLock { $0 }
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
        let process = try ChildProcess("waybill", ["serve", folder.path(), "--port", "0", "--insecure"])
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
