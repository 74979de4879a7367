import Foundation
import WaybillCore
import WaybillStore

/// Receives one body while it passes, without waiting. It keeps the beginning, counts all bytes, and hashes the rest.
final class BodyTap: Sendable {
    private struct State {
        var byteCount: Int64 = 0
        var keptByteCount = 0
        var omission: ExchangeBody.Omission?
        var rest = SipHash(key: (0, 0))
        var hasEnded = false
    }

    private let keeper: BodyKeeper
    private let draft: BodyDraft
    private let limit: Int
    private let state: Locked<State>

    init(_ place: BodyPlace, _ head: BodyHead, _ keeper: BodyKeeper) {
        self.keeper = keeper
        limit = max(0, keeper.policy.maximumByteCount)
        let isNamed = keeper.policy.names(head.contentType)
        let isWanted =
            head.isKnown
            && (isNamed || keeper.policy.contentTypes.isEmpty && BodyFormat(contentType: head.contentType) != .binary)
        state = Locked(State(omission: isWanted ? nil : .type))
        draft = BodyDraft(place, head, keeper, keepsBinary: isNamed)
    }

    func append(_ bytes: some DataProtocol) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.byteCount += Int64(bytes.count)
            if state.omission == nil {
                let kept = Array(bytes.prefix(limit - state.keptByteCount))
                if keeper.writer.bodies.reserve(kept.count) {
                    state.keptByteCount += kept.count
                    if !kept.isEmpty { keeper.perform { [draft] in draft.append(kept) } }
                    if kept.count < bytes.count { state.omission = .limit }
                } else {
                    state.omission = .room
                }
            }
            guard state.omission == .limit else { return }
            var skipped = Int(clamping: Int64(limit) - (state.byteCount - Int64(bytes.count)))
            for region in bytes.regions {
                region.withUnsafeBytes { region in
                    let skips = min(max(0, skipped), region.count)
                    skipped -= skips
                    state.rest.update(UnsafeRawBufferPointer(rebasing: region[skips...]))
                }
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
    private let part: Int64
    private let exchange: Int64
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

    func responded(_ response: ExchangeResponse) { state.withLock { $0.heads[.response] = response.headerFields } }

    func append(_ bytes: some DataProtocol, _ direction: ExchangeBody.Direction) {
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

    func append(message bytes: some DataProtocol, _ direction: ExchangeBody.Direction, isText: Bool, number: Int64) {
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
    var direction: ExchangeBody.Direction
    var asked: RecordingDraft.ExchangeOpened?
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
    private struct State {
        var byteCount: Int64 = 0
        var keptByteCount = 0
        var omission: ExchangeBody.Omission?
        var hasEnded = false
    }

    private let keeper: BodyKeeper
    private let draft: MessageDraft
    private let limit: Int
    private let state = Locked(State())

    init(_ place: BodyPlace, _ keeper: BodyKeeper) {
        self.keeper = keeper
        limit = max(0, keeper.policy.maximumByteCount)
        draft = MessageDraft(place, keeper)
    }

    func append(_ bytes: some DataProtocol, isText: Bool, number: Int64) {
        let isWanted = keeper.policy.keepsMessages(ofText: isText)
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.byteCount += Int64(bytes.count)
            guard state.omission == nil, isWanted else { return }
            // The frame counts, too, since there may be many short messages.
            let room = limit - state.keptByteCount - MessageDraft.frameByteCount
            guard room > 0 else {
                state.omission = .limit
                return
            }
            let kept = Array(bytes.prefix(room))
            let cost = kept.count + MessageDraft.frameByteCount
            guard keeper.writer.bodies.reserve(cost) else {
                state.omission = .room
                return
            }
            state.keptByteCount += cost
            if kept.count < bytes.count { state.omission = .limit }
            let message = MessageDraft.Message(
                number: number, isText: isText, byteCount: Int64(bytes.count), bytes: kept, reservedByteCount: cost)
            keeper.perform { [draft] in draft.append(message) }
        }
    }

    func finish() {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.hasEnded = true
            let omission = state.omission ?? (state.keptByteCount == 0 && state.byteCount > 0 ? .type : nil)
            let byteCount = state.byteCount
            keeper.perform { [draft] in draft.finish(byteCount: byteCount, omission: omission) }
        }
    }
}

extension BodyPolicy {
    fileprivate func keepsMessages(ofText isText: Bool) -> Bool {
        isText ? contentTypes.isEmpty || names(MessageDraft.textType) : names(MessageDraft.binaryType)
    }
}

/// Redacts the messages of one direction one by one, and passes them to the store in pieces.
// Right because only the keeper's queue uses its state.
final class MessageDraft: @unchecked Sendable {
    struct Message: Sendable {
        var number: Int64
        var isText: Bool
        var byteCount: Int64
        var bytes: [UInt8]
        var reservedByteCount: Int

        var contentType: String { isText ? textType : binaryType }
        var isWhole: Bool { bytes.count == byteCount }
    }

    static let frameByteCount = 40
    static let textType = "text/plain"
    static let binaryType = "application/octet-stream"
    private static let pieceByteCount = 64 << 10

    private let place: BodyPlace
    private let keeper: BodyKeeper
    private var kept: [UInt8] = []
    private var pieceCount = 0

    init(_ place: BodyPlace, _ keeper: BodyKeeper) {
        self.place = place
        self.keeper = keeper
    }

    deinit { keeper.writer.bodies.adjust(by: -kept.count) }

    func append(_ message: Message) {
        let record = asked(message).map { changed -> [UInt8] in
            let redacted = keeper.redactor.body(
                changed, contentType: message.contentType, keepsBinary: !message.isText, isWhole: message.isWhole)
            return KeptMessage(message.number, redacted, isText: message.isText, isCut: !message.isWhole).record
        }
        kept += record ?? []
        keeper.writer.bodies.adjust(by: (record?.count ?? 0) - message.reservedByteCount)
        while kept.count >= Self.pieceByteCount { handOver(kept.prefix(Self.pieceByteCount), end: nil) }
    }

    func finish(byteCount: Int64, omission: ExchangeBody.Omission?) {
        handOver(kept[...], end: BodyPiece.End(byteCount: byteCount, omission: omission, hash: nil))
    }

    private func asked(_ message: Message) -> [UInt8]? {
        guard let hook = keeper.hook, let request = place.asked else { return message.bytes }
        let draft = RecordingDraft.Body(
            request: request, direction: place.direction, contentType: message.contentType,
            byteCount: message.byteCount, isWhole: message.isWhole, bytes: message.bytes)
        guard case .body(let changed)? = hook.ask(.body(draft)) else { return nil }
        return Array(changed.bytes.prefix(max(0, keeper.policy.maximumByteCount)))
    }

    private func handOver(_ bytes: ArraySlice<UInt8>, end: BodyPiece.End?) {
        keeper.writer.keep(
            BodyPiece(
                part: place.part, exchange: place.exchange, direction: place.direction, number: Int64(pieceCount),
                contentType: KeptMessage.contentType, bytes: Array(bytes), end: end))
        pieceCount += 1
        kept.removeFirst(bytes.count)
    }
}
