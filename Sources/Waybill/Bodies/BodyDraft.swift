import Foundation
import WaybillCore
import WaybillStore

/// The kept beginning of one body: redacted as it comes, and handed to the store a piece at a time.
// right because everything that changes is touched on the keeper's queue only
final class BodyDraft: @unchecked Sendable {
    private let place: BodyPlace
    private let contentType: String?
    /// As it came.
    private let ownContentType: String?
    private let keeper: BodyKeeper
    private var redactor: BodyRedactor
    private var kept: [UInt8] = []
    /// What the app's hook has to see whole; empty where it is not asked.
    private var unseen: [UInt8] = []
    private var pieceCount = 0
    private var hash = SipHash(key: (0, 0))
    /// The first bytes of a body that was compressed, until it is known whether it still is; nil: it is known.
    private var probe: [UInt8]?
    private var isStillEncoded = false

    private static let pieceByteCount = 64 << 10
    private static let probeByteCount = 16

    init(_ place: BodyPlace, _ head: BodyHead, _ keeper: BodyKeeper, keepsBinary: Bool) {
        self.place = place
        self.keeper = keeper
        ownContentType = head.contentType
        contentType = head.contentType.map { type in
            let redacted = keeper.redactor.text(type)
            return redacted.cut(to: Limits.labelLength) ?? redacted
        }
        // A body without a type is read as of the type that URLSession gives it, which is the most careful way.
        let type = head.contentType ?? "application/x-www-form-urlencoded"
        redactor = BodyRedactor(contentType: type, redactor: keeper.redactor, keepsBinary: keepsBinary)
        probe = head.isEncoded ? [] : nil
    }

    /// Gives back the room of what waits of a body whose exchange was never ended.
    deinit { keeper.writer.bodies.adjust(by: -kept.count - unseen.count) }

    func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { hash.update($0) }
        if place.asked == nil { take(bytes) } else { unseen += bytes }
    }

    /// Redacts bytes for which there is room, and hands over what is ready.
    private func take(_ bytes: [UInt8]) {
        let waiting = kept.count
        if var start = probe {
            start += bytes
            probe = start.count < Self.probeByteCount ? start : nil
            if probe == nil { decide(by: start) }
        } else if !isStillEncoded {
            kept += redactor.redact(bytes)
        }
        keeper.writer.bodies.adjust(by: kept.count - waiting - bytes.count)
        while kept.count >= Self.pieceByteCount { handOver(kept.prefix(Self.pieceByteCount), end: nil) }
    }

    /// - Parameter rest: The hash of what is not kept; nil where the body was not cut at the limit.
    func finish(byteCount: Int64, omission: ExchangeBody.Omission?, rest: SipHash?) {
        var (omission, rest) = (omission, rest)
        if !unseen.isEmpty {
            let changed = asked(byteCount: byteCount, isWhole: omission == nil)
            // A hash would tell what the app has taken out.
            if changed != unseen { rest = nil }
            let limited = Array((changed ?? []).prefix(max(0, keeper.policy.maximumByteCount)))
            if let changed, limited.count < changed.count { omission = omission ?? .limit }
            keeper.writer.bodies.adjust(by: limited.count - unseen.count)
            unseen = []
            guard changed != nil else { return }
            take(limited)
        }
        let waiting = kept.count
        if let probe { decide(by: probe) }
        if !isStillEncoded { kept += redactor.finish(isWhole: omission == nil) }
        keeper.writer.bodies.adjust(by: kept.count - waiting)
        let end = BodyPiece.End(
            byteCount: byteCount, omission: isStillEncoded ? .encoding : omission,
            hash: isStillEncoded ? nil : rest.map(whole))
        handOver(kept[...], end: end)
    }

    /// What the app makes of a body that can be read; nil: it is withheld.
    private func asked(byteCount: Int64, isWhole: Bool) -> [UInt8]? {
        guard let hook = keeper.hook, let request = place.asked,
            probe == nil || Self.isText(unseen.prefix(Self.probeByteCount))
        else {
            return unseen
        }
        let draft = RecordingDraft.Body(
            request: request, direction: place.direction, contentType: ownContentType, byteCount: byteCount,
            isWhole: isWhole, bytes: unseen)
        guard case .body(let changed)? = hook.ask(.body(draft)) else { return nil }
        return changed.bytes
    }

    private func decide(by start: [UInt8]) {
        isStillEncoded = !Self.isText(start.prefix(Self.probeByteCount))
        if !isStillEncoded { kept += redactor.redact(start) }
    }

    /// Every compression has bytes at its start that no text has: 1F 8B (gzip), 28 B5 2F FD (zstd).
    private static func isText(_ start: ArraySlice<UInt8>) -> Bool {
        guard !start.contains(where: { $0 < 0x20 && !"\t\n\r\u{1E}".utf8.contains($0) }) else { return false }
        // The last scalar may be cut off.
        let scalars = String(decoding: start, as: UTF8.self).unicodeScalars
        return !scalars.dropLast(min(3, scalars.count)).contains("\u{FFFD}")
    }

    /// The hash of both, the kept beginning and the rest.
    private func whole(_ rest: SipHash) -> SipHash.Value {
        var whole = SipHash(key: (0, 0))
        for value in [hash.value, rest.value] {
            whole.update(value.0)
            whole.update(value.1)
        }
        return whole.value
    }

    private func handOver(_ bytes: ArraySlice<UInt8>, end: BodyPiece.End?) {
        keeper.writer.keep(
            BodyPiece(
                part: place.part, exchange: place.exchange, direction: place.direction, number: Int64(pieceCount),
                contentType: contentType,
                bytes: Array(bytes), end: end))
        pieceCount += 1
        kept.removeFirst(bytes.count)
    }
}
