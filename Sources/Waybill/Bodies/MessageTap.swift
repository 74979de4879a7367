import Foundation
import WaybillCore
import WaybillStore

/// The messages of one direction of a WebSocket as they pass: of the first ones it is kept what they say, each in a
/// record of its own in the body of that direction, as far as the policy's limit reaches. No call waits for anything here.
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
            // What stands around a message counts, too: there may be many that say little.
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
    /// Whether it is kept what messages of a WebSocket say; they have no types of their own.
    fileprivate func keepsMessages(ofText isText: Bool) -> Bool {
        isText ? contentTypes.isEmpty || names(MessageDraft.textType) : names(MessageDraft.binaryType)
    }
}

/// What is kept of the messages of one direction: redacted one by one, and handed over to the store in pieces.
// right because everything that changes is touched on the keeper's queue only
final class MessageDraft: @unchecked Sendable {
    struct Message: Sendable {
        var number: Int64
        var isText: Bool
        var byteCount: Int64
        /// Its beginning, as it came.
        var bytes: [UInt8]
        var reservedByteCount: Int

        var contentType: String { isText ? textType : binaryType }
        var isWhole: Bool { bytes.count == byteCount }
    }

    /// About what a record has besides its message.
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

    /// Gives back the room of what waits of an exchange that was never ended.
    deinit { keeper.writer.bodies.adjust(by: -kept.count) }

    func append(_ message: Message) {
        let record = asked(message).map { changed in
            KeptMessage(
                message.number, redacted(changed, message), isText: message.isText, isCut: !message.isWhole
            ).record
        }
        kept += record ?? []
        keeper.writer.bodies.adjust(by: (record?.count ?? 0) - message.reservedByteCount)
        while kept.count >= Self.pieceByteCount { handOver(kept.prefix(Self.pieceByteCount), end: nil) }
    }

    func finish(byteCount: Int64, omission: ExchangeBody.Omission?) {
        handOver(kept[...], end: BodyPiece.End(byteCount: byteCount, omission: omission, hash: nil))
    }

    /// What the app makes of a message; nil: it is withheld.
    private func asked(_ message: Message) -> [UInt8]? {
        guard let hook = keeper.hook, let request = place.asked else { return message.bytes }
        let draft = RecordingDraft.Body(
            request: request, direction: place.direction, contentType: message.contentType,
            byteCount: message.byteCount, isWhole: message.isWhole, bytes: message.bytes)
        guard case .body(let changed)? = hook.ask(.body(draft)) else { return nil }
        return Array(changed.bytes.prefix(max(0, keeper.policy.maximumByteCount)))
    }

    private func redacted(_ bytes: [UInt8], _ message: Message) -> [UInt8] {
        var body = BodyRedactor(
            contentType: message.contentType, redactor: keeper.redactor, keepsBinary: !message.isText)
        return body.redact(bytes) + body.finish(isWhole: message.isWhole)
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
