import Foundation
import WaybillCore
import WaybillStore

/// One body as it passes: its beginning is kept, all of it is counted, and what is not kept is hashed. No call waits
/// for anything here.
final class BodyTap: Sendable {
    private struct State {
        var byteCount: Int64 = 0
        var keptByteCount = 0
        var omission: ExchangeBody.Omission?
        /// Of what is beyond the limit.
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

    /// - Parameter isWhole: Whether all of it has passed.
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
