import Foundation
import TestSupport
import WaybillCore
import WaybillLegacy

/// A server of the first framework that gives the answers of a script, one after the other, and then 202.
final class LegacyServer: Sendable {
    private struct State {
        var script: [LoopbackServer.Response]
        var taken: [LegacySet] = []
    }

    let server: LoopbackServer
    private let state: Locked<State>

    init(_ script: [LoopbackServer.Response] = [], version: String = "0.0.1") throws {
        let state = Locked(State(script: script))
        self.state = state
        server = try LoopbackServer { request in
            // The old server chose its version by the media type, and knew no compression.
            guard request.header("Content-Type") == "application/vnd.fp.apptxnset-v\(version)+json;charset=UTF-8",
                request.header("Content-Encoding") == nil, let set = try? LegacySet.decode(Array(request.body))
            else { return .init(status: 415) }
            return state.withLock { state in
                let answer = state.script.isEmpty ? .init(status: 202) : state.script.removeFirst()
                if (200...299).contains(answer.status) { state.taken.append(set) }
                return answer
            }
        }
    }

    /// The sets that the server answered with a 2xx.
    var taken: [LegacySet] { state.withLock { $0.taken } }

    /// The codes of the accepted events, by transaction, in order of arrival.
    var events: [[Int]] { taken.flatMap { $0.transactions.map { $0.logs.map(\.event) } } }
}
