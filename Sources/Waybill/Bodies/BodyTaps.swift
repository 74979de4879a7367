import Foundation
import WaybillCore
import WaybillStore

/// Both bodies of one exchange that the policy wants; each has a tap from its first byte on.
package final class BodyTaps: Sendable {
    private struct State {
        var heads: [BodyDirection: [Fact.HeaderField]]
        var taps: [BodyDirection: BodyTap] = [:]
        /// Of a WebSocket.
        var messageTaps: [BodyDirection: MessageTap] = [:]
        var hasEnded = false
    }

    private let keeper: BodyKeeper
    private let part: Int64
    private let exchange: Int64
    /// The request as the app's hook left it; nil: it is not asked.
    private let asked: RecordingDraft.ExchangeOpened?
    private let state: Locked<State>

    init(
        of request: ExchangeRequest, part: Int64, exchange: Int64, asked: RecordingDraft.ExchangeOpened?,
        keeper: BodyKeeper
    ) {
        self.asked = asked
        self.keeper = keeper
        self.part = part
        self.exchange = exchange
        state = Locked(State(heads: [.request: request.headerFields]))
    }

    /// The head of the response, which says what its body is.
    func responded(_ response: ExchangeResponse) { state.withLock { $0.heads[.response] = response.headerFields } }

    /// Bytes of a body as they come.
    func append(_ bytes: some DataProtocol, _ direction: BodyDirection) {
        guard !bytes.isEmpty else { return }
        let tap: BodyTap? = state.withLock { state in
            guard !state.hasEnded else { return nil }
            if let tap = state.taps[direction] { return tap }
            let head = BodyHead(state.heads[direction])
            let place = BodyPlace(part: part, exchange: exchange, direction: direction, asked: asked)
            let tap = BodyTap(place, head, keeper)
            state.taps[direction] = tap
            return tap
        }
        tap?.append(bytes)
    }

    /// A message of a WebSocket.
    ///
    /// - Parameter number: From 1, among those of its direction.
    func append(message bytes: some DataProtocol, _ direction: BodyDirection, isText: Bool, number: Int64) {
        let tap: MessageTap? = state.withLock { state in
            guard !state.hasEnded else { return nil }
            if let tap = state.messageTaps[direction] { return tap }
            let tap = MessageTap(
                BodyPlace(part: part, exchange: exchange, direction: direction, asked: asked), keeper)
            state.messageTaps[direction] = tap
            return tap
        }
        tap?.append(bytes, isText: isText, number: number)
    }

    /// The exchange has ended.
    ///
    /// - Parameter isWhole: Whether all of the response is there.
    func finish(isWhole: Bool) {
        let last: State = state.withLock { state in
            state.hasEnded = true
            return state
        }
        // A server that has answered has read the request.
        last.taps[.request]?.finish(isWhole: isWhole || last.heads[.response] != nil)
        last.taps[.response]?.finish(isWhole: isWhole)
        for tap in last.messageTaps.values { tap.finish() }
    }
}

/// Which body of which exchange.
struct BodyPlace {
    var part: Int64
    var exchange: Int64
    var direction: BodyDirection
    /// The request as the app's hook left it; nil: it is not asked.
    var asked: RecordingDraft.ExchangeOpened?
}

/// What the head of a request or a response says of its body.
struct BodyHead {
    var contentType: String?
    /// Whether it was compressed on its way (RFC 9110, section 8.4); it may be decoded by now.
    var isEncoded = false
    /// Whether there was a head before the body came: without one it is not known how to look for secrets in it.
    var isKnown: Bool

    init(_ fields: [Fact.HeaderField]?) {
        isKnown = fields != nil
        for field in fields ?? [] {
            switch field.name.lowercased() {
            case "content-type": contentType = field.value
            case "content-encoding": isEncoded = field.value.lowercased() != "identity"
            default: break
            }
        }
    }
}
