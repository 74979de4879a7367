import Dispatch
import Foundation
public import WaybillCore
import WaybillStore

/// Of which exchanges the bodies are kept, and how much of them: `TransactionManager.Options.network.bodies`.
///
/// Without a policy no body is ever looked at. With one, a body is redacted while it comes and before it is written; it
/// stays on the device, in the store's file, and is in no set, no export and no snapshot. Text of every kind is read:
/// JSON, forms, `multipart/form-data`, XML and HTML, lines. A single string, line or tag of more than 64 KiB is hidden
/// whole. Nothing is kept of a body that the platform does not decode, nor, on Apple platforms, of one that is uploaded
/// from a stream.
///
/// ## Usage
///
/// ```swift
/// var options = TransactionManager.Options()
/// options.network.bodies = BodyPolicy(hosts: ["api.example.com"])
/// ```
public struct BodyPolicy: Sendable, Hashable {
    /// The hosts, in any case; empty: all.
    public var hosts: [TextPattern]
    /// The paths as they are on the wire, `/` where a URL has none; empty: all.
    public var paths: [TextPattern]
    /// The media types, without parameters and in any case; empty: every kind of text.
    ///
    /// A type that is no text, an image for example, is kept only where it is named here; what has the shape of a
    /// secret is taken out of it, too.
    public var contentTypes: [TextPattern]
    /// Bytes of a body that are kept; of a longer one the beginning is, with its true length and a hash. Default: 256
    /// KiB.
    public var maximumByteCount = 256 << 10
    /// The fraction of transactions whose bodies are kept, from 0 to 1: of one all or none. Outside a transaction it
    /// counts exchanges. Default: 1.
    public var sample = 1.0
    /// Bytes that all bodies may take in the store, compressed; the oldest go. Default: 16 MiB.
    ///
    /// Within the store's own limit (``TransactionManager/Options/retention``), for which bodies go before anything
    /// else.
    public var maximumStoreByteCount: Int64 = 16 << 20

    /// A policy that keeps the beginning of each body of text.
    public init(hosts: [TextPattern] = [], paths: [TextPattern] = [], contentTypes: [TextPattern] = []) {
        self.hosts = hosts
        self.paths = paths
        self.contentTypes = contentTypes
    }

    /// Whether bodies of an exchange are kept.
    ///
    /// - Parameter transaction: nil outside one.
    func wants(_ request: ExchangeRequest, of transaction: GUID?) -> Bool {
        guard hosts.isEmpty || hosts.contains(where: { $0.ignoringCase.matches(request.url.host() ?? "") }) else {
            return false
        }
        let path = request.url.path(percentEncoded: true)
        guard paths.isEmpty || paths.contains(where: { $0.matches(path.isEmpty ? "/" : path) }) else { return false }
        return sample >= 1 || sample > Self.position(of: transaction)
    }

    /// Whether a type was named.
    func names(_ contentType: String?) -> Bool {
        let type = (contentType ?? "").prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
        return contentTypes.contains { $0.ignoringCase.matches(type) }
    }

    /// Where a transaction stands between 0 and 1: hashed, because not every bit of an ID is drawn at random.
    private static func position(of transaction: GUID?) -> Double {
        guard let transaction else { return .random(in: 0..<1) }
        var hash = SipHash(key: (0, 0))
        transaction.withBytes { hash.update($0) }
        return Double(hash.value.0 >> 11) * 0x1p-53
    }

    /// What in it cannot work.
    var problems: [WaybillError] {
        var problems = (hosts + paths + contentTypes).compactMap(\.problem)
        if !(0...1).contains(sample) {
            problems.append(
                WaybillError(.setting, "A sample of \(sample) is none between 0 and 1; the nearest is used."))
        }
        if maximumByteCount < 1 || maximumStoreByteCount < 1 {
            problems.append(WaybillError(.setting, "A limit of less than one byte keeps no body."))
        }
        return problems
    }
}

extension TransactionManager {
    /// What was kept of a body of an exchange, without its secrets; see ``BodyPolicy``.
    ///
    /// - Parameters:
    ///   - exchange: Of this device; ``WaybillQueries/TransactionRecord/Exchange/id``.
    ///   - direction: Whether the request's body or the answer's.
    /// - Returns: nil where nothing is known of one: none was asked for, there was none, or its room went to newer
    ///   ones.
    /// - Throws: ``WaybillCore/WaybillError`` when the store cannot be read.
    public func body(of exchange: FactID, _ direction: ExchangeBody.Direction) async throws -> ExchangeBody? {
        try await read { reader, _ in try reader.body(of: exchange, direction) } ?? nil
    }
}

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

/// Takes the secrets out of the bodies of a source's exchanges, one after the other on a queue of its own, so that no
/// exchange waits for it.
final class BodyKeeper: Sendable {
    let policy: BodyPolicy
    let redactor: Redactor
    /// nil: the app is not asked.
    let hook: RecordingHook?
    let writer: SourceWriter
    private let queue = DispatchQueue(label: "waybill.bodies", qos: .utility)
    private let generation = ProcessGeneration.current

    init(policy: BodyPolicy, redactor: Redactor, hook: RecordingHook?, writer: SourceWriter) {
        self.policy = policy
        self.redactor = redactor
        self.hook = hook
        self.writer = writer
    }

    /// Runs on the queue, in order of the calls; never in a forked child, which has none of the parent's threads.
    func perform(_ body: @escaping @Sendable () -> Void) {
        guard generation == ProcessGeneration.latest else { return }
        queue.async(execute: body)
    }

    /// Waits until everything that has come so far waits for the store.
    func settle() async {
        guard generation == ProcessGeneration.latest else { return }
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
}
