import Foundation
import WaybillCore
import WaybillStore

/// The bytes that passed in one direction.
private struct Passed {
    var byteCount: Int64 = 0
    var keptByteCount = 0
    var omission: ExchangeBody.Omission?
    /// Of the bytes after the limit.
    var rest = SipHash(key: (0, 0))
    var hasEnded = false

    /// Returns the bytes to keep, and reserves room for them.
    mutating func keep(_ bytes: some DataProtocol, overhead: Int = 0, by keeper: BodyKeeper) -> [UInt8]? {
        guard omission == nil else { return nil }
        let limit = keeper.byteLimit - keptByteCount - overhead
        guard limit > 0 else {
            omission = .limit
            return nil
        }
        let kept = Array(bytes.prefix(limit))
        guard keeper.writer.bodies.reserve(kept.count + overhead) else {
            omission = .room
            return nil
        }
        keptByteCount += kept.count + overhead
        if kept.count < bytes.count { omission = .limit }
        return kept
    }
}

/// Receives one body while it passes, without waiting. It keeps the beginning, counts all bytes, and hashes the rest.
final class BodyTap: Sendable {
    private let keeper: BodyKeeper
    private let draft: BodyDraft
    private let state: Locked<Passed>

    init(_ place: BodyPlace, _ head: BodyHead, _ keeper: BodyKeeper) {
        self.keeper = keeper
        let isNamed = keeper.policy.names(head.contentType)
        let isWanted =
            head.isKnown
            && (isNamed || keeper.policy.contentTypes.isEmpty && BodyFormat(contentType: head.contentType) != .binary)
        state = Locked(Passed(omission: isWanted ? nil : .type))
        draft = BodyDraft(place, head, keeper, keepsBinary: isNamed)
    }

    func append(_ bytes: some DataProtocol) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.byteCount += Int64(bytes.count)
            let kept = state.keep(bytes, by: keeper)
            if let kept { keeper.perform { [draft] in draft.append(kept) } }
            guard state.omission == .limit else { return }
            for region in bytes.dropFirst(kept?.count ?? 0).regions {
                region.withUnsafeBytes { state.rest.update($0) }
            }
        }
    }

    func finish(isWhole: Bool) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.hasEnded = true
            let omission = isWhole ? state.omission : state.omission == .type ? .type : .unfinished
            let hash = omission == .limit ? state.rest : nil
            let byteCount = state.byteCount
            keeper.perform { [draft] in draft.finish(byteCount: byteCount, omission: omission, rest: hash) }
        }
    }
}

package final class BodyTaps: Sendable {
    private struct State {
        var heads: [ExchangeBody.Direction: [HeaderField]]
        var taps: [ExchangeBody.Direction: BodyTap] = [:]
        var messageTaps: [ExchangeBody.Direction: MessageTap] = [:]
        var hasEnded = false
    }

    private let keeper: BodyKeeper
    private let place: BodyPlace
    private let state: Locked<State>

    init(of headerFields: [HeaderField], at place: BodyPlace, _ keeper: BodyKeeper) {
        (self.place, self.keeper) = (place, keeper)
        state = Locked(State(heads: [.request: headerFields]))
    }

    func responded(_ response: ExchangeResponse) { state.withLock { $0.heads[.response] = response.headerFields } }

    func append(_ bytes: some DataProtocol, _ direction: ExchangeBody.Direction) {
        guard !bytes.isEmpty else { return }
        let tap: BodyTap? = state.withLock { state in
            guard !state.hasEnded else { return nil }
            if let tap = state.taps[direction] { return tap }
            let tap = BodyTap(place.with(direction), BodyHead(state.heads[direction]), keeper)
            state.taps[direction] = tap
            return tap
        }
        tap?.append(bytes)
    }

    func append(message bytes: some DataProtocol, _ direction: ExchangeBody.Direction, isText: Bool, number: Int64) {
        let tap: MessageTap? = state.withLock { state in
            guard !state.hasEnded else { return nil }
            if let tap = state.messageTaps[direction] { return tap }
            let tap = MessageTap(place.with(direction), keeper)
            state.messageTaps[direction] = tap
            return tap
        }
        tap?.append(bytes, isText: isText, number: number)
    }

    func finish(isWhole: Bool) {
        let last: State = state.withLock { state in
            state.hasEnded = true
            return state
        }
        // A server that has responded has read the request.
        last.taps[.request]?.finish(isWhole: isWhole || last.heads[.response] != nil)
        last.taps[.response]?.finish(isWhole: isWhole)
        for tap in last.messageTaps.values { tap.finish() }
    }
}

struct BodyPlace {
    var part: Int64
    var exchange: Int64
    var direction = ExchangeBody.Direction.request
    var asked: RecordingDraft.ExchangeOpened?

    func with(_ direction: ExchangeBody.Direction) -> BodyPlace {
        BodyPlace(part: part, exchange: exchange, direction: direction, asked: asked)
    }
}

struct BodyHead {
    var contentType: String?
    /// Whether it was compressed on its way (RFC 9110, section 8.4).
    var isEncoded = false
    /// Without a head before the body, the way to redact is not known.
    var isKnown: Bool

    init(_ fields: [HeaderField]?) {
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

/// Receives the messages of one direction of a WebSocket. It keeps the first ones, up to the policy's limit.
final class MessageTap: Sendable {
    /// The frame counts, too, since there may be many short messages.
    private static let frameByteCount = 40

    private let place: BodyPlace
    private let keeper: BodyKeeper
    private let pieces: BodyPieces
    private let state = Locked(Passed())

    init(_ place: BodyPlace, _ keeper: BodyKeeper) {
        (self.place, self.keeper) = (place, keeper)
        pieces = BodyPieces(of: place, contentType: KeptMessage.contentType, keeper.writer)
    }

    func append(_ bytes: some DataProtocol, isText: Bool, number: Int64) {
        let isWanted = keeper.policy.keepsMessages(ofText: isText)
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.byteCount += Int64(bytes.count)
            guard isWanted, let kept = state.keep(bytes, overhead: Self.frameByteCount, by: keeper) else { return }
            let byteCount = Int64(bytes.count)
            keeper.perform { [self] in
                let record = record(of: kept, byteCount: byteCount, isText: isText, number: number)
                pieces.append(record ?? [], reservedByteCount: kept.count + Self.frameByteCount)
            }
        }
    }

    private func record(of bytes: [UInt8], byteCount: Int64, isText: Bool, number: Int64) -> [UInt8]? {
        let (contentType, isWhole) = (BodyPolicy.messageType(ofText: isText), bytes.count == byteCount)
        let asked = keeper.asked(
            bytes, of: place, contentType: contentType, byteCount: byteCount, isWhole: isWhole)
        guard let asked else { return nil }
        let redacted = keeper.redactor.body(
            Array(asked.prefix(keeper.byteLimit)), contentType: contentType, keepsBinary: !isText, isWhole: isWhole)
        return KeptMessage(number, redacted, isText: isText, isCut: !isWhole).record
    }

    func finish() {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.hasEnded = true
            let omission = state.omission ?? (state.keptByteCount == 0 && state.byteCount > 0 ? .type : nil)
            let byteCount = state.byteCount
            keeper.perform { [pieces] in
                pieces.finish(BodyPiece.End(byteCount: byteCount, omission: omission, hash: nil))
            }
        }
    }
}

extension BodyPolicy {
    fileprivate func keepsMessages(ofText isText: Bool) -> Bool {
        isText && contentTypes.isEmpty || names(Self.messageType(ofText: isText))
    }

    fileprivate static func messageType(ofText isText: Bool) -> String {
        isText ? "text/plain" : "application/octet-stream"
    }
}
