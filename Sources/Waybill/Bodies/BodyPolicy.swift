import Dispatch
import Foundation
public import WaybillCore
import WaybillStore

/// Which bodies are stored, and how much of them; see ``NetworkOptions/bodies``.
///
/// Waybill redacts a body before it writes anything (<doc:Privacy>). Bodies stay on the device, outside of sets, exports
/// and snapshots. Bodies that the platform does not decode are not stored, nor streamed uploads on Apple platforms.
///
/// ## Usage
///
/// ```swift
/// let transactions = TransactionManager { options in
///     options.network.bodies = BodyPolicy(hosts: ["api.example.com"])
/// }
/// ```
public struct BodyPolicy: Sendable, Equatable {
    /// The hosts, in any case; empty for all.
    public var hosts: [TextPattern]
    /// The percent-encoded paths, `/` for a URL without one; empty for all.
    public var paths: [TextPattern]
    /// The media types, without parameters and in any case; empty for all text. Other types, such as images, are stored
    /// only if they are named here. Secret-shaped values in them are redacted.
    public var contentTypes: [TextPattern]
    /// The bytes to store of each body. A longer one is cut, with its length and a hash. Default: 256 KiB.
    public var maximumByteCount = 256 << 10
    /// The fraction of transactions, or of exchanges outside any, whose bodies are stored. Default: 1.
    public var sample = 1.0
    /// The compressed size of all bodies in the store, in bytes; the oldest are deleted first. Default: 16 MiB.
    /// ``TransactionManager/Options/retention`` limits the whole store and deletes bodies before other data.
    public var maximumStoreByteCount: Int64 = 16 << 20

    /// Creates a policy that stores the beginning of each text body.
    public init(hosts: [TextPattern] = [], paths: [TextPattern] = [], contentTypes: [TextPattern] = []) {
        self.hosts = hosts
        self.paths = paths
        self.contentTypes = contentTypes
    }

    func wants(_ request: ExchangeRequest, of transaction: GUID?) -> Bool {
        guard hosts.isEmpty || hosts.contains(where: { $0.ignoringCase.matches(request.url.host() ?? "") }) else {
            return false
        }
        let path = request.url.sentPath
        guard paths.isEmpty || paths.contains(where: { $0.matches(path) }) else { return false }
        let place = transaction.map { Double($0.samplingPlace) / Double(Fact.Sampling.million) }
        return sample >= 1 || sample > place ?? .random(in: 0..<1)
    }

    func names(_ contentType: String?) -> Bool {
        let type = (contentType ?? "").prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
        return contentTypes.contains { $0.ignoringCase.matches(type) }
    }

    var problems: [WaybillError] {
        var problems = (hosts + paths + contentTypes).compactMap(\.problem)
        if !(0...1).contains(sample) {
            problems.add("A sample of \(sample) is none between 0 and 1; the nearest is used.")
        }
        if maximumByteCount < 1 || maximumStoreByteCount < 1 {
            problems.add("A limit of less than one byte keeps no body.")
        }
        return problems
    }
}

extension TransactionManager {
    /// Returns the stored, redacted body of an exchange; `nil` if it was not stored, or was deleted to make room.
    ///
    /// - Throws: ``WaybillCore/WaybillError`` if the store can't be read.
    public func body(of exchange: FactID, _ direction: ExchangeBody.Direction) async throws(WaybillError)
        -> ExchangeBody?
    {
        try await read { reader, _ in try reader.body(of: exchange, direction) } ?? nil
    }
}

/// Redacts the beginning of one body while it arrives, and passes it to the store in pieces.
// Right because only the keeper's queue uses its state.
final class BodyDraft: @unchecked Sendable {
    private let place: BodyPlace
    private let contentType: String?
    private let keeper: BodyKeeper
    private let pieces: BodyPieces
    private var redactor: BodyRedactor
    private var unseen: [UInt8] = []
    private var hash = SipHash(key: (0, 0))
    private var probe: [UInt8]?
    private var isStillEncoded = false

    private static let probeByteCount = 16

    init(_ place: BodyPlace, _ head: BodyHead, _ keeper: BodyKeeper, keepsBinary: Bool) {
        self.place = place
        self.keeper = keeper
        contentType = head.contentType
        pieces = BodyPieces(of: place, contentType: head.contentType.map(keeper.redactor.label), keeper.writer)
        // Without a type, assume the one that URLSession sends, which is redacted most strictly.
        let type = head.contentType ?? "application/x-www-form-urlencoded"
        redactor = BodyRedactor(contentType: type, redactor: keeper.redactor, keepsBinary: keepsBinary)
        probe = head.isEncoded ? [] : nil
    }

    deinit { keeper.writer.bodies.adjust(by: -unseen.count) }

    func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { hash.update($0) }
        if place.asked == nil { take(bytes) } else { unseen += bytes }
    }

    private func take(_ bytes: [UInt8]) { pieces.append(redacted(bytes), reservedByteCount: bytes.count) }

    private func redacted(_ bytes: [UInt8]) -> [UInt8] {
        guard let probe else { return isStillEncoded ? [] : redactor.redact(bytes) }
        let start = probe + bytes
        self.probe = start.count < Self.probeByteCount ? start : nil
        return self.probe == nil ? redacted(start: start) : []
    }

    func finish(byteCount: Int64, omission: ExchangeBody.Omission?, rest: SipHash?) {
        var (omission, rest) = (omission, rest)
        if !unseen.isEmpty {
            let isReadable = probe == nil || Self.isText(unseen.prefix(Self.probeByteCount))
            let changed =
                isReadable
                ? keeper.asked(
                    unseen, of: place, contentType: contentType, byteCount: byteCount, isWhole: omission == nil)
                : unseen
            // A hash would reveal what the app removed.
            if changed != unseen { rest = nil }
            let limited = Array((changed ?? []).prefix(keeper.byteLimit))
            if let changed, limited.count < changed.count { omission = omission ?? .limit }
            keeper.writer.bodies.adjust(by: limited.count - unseen.count)
            unseen = []
            guard changed != nil else { return }
            take(limited)
        }
        var last = probe.map(redacted(start:)) ?? []
        if !isStillEncoded { last += redactor.finish(isWhole: omission == nil) }
        pieces.append(last, reservedByteCount: 0)
        pieces.finish(
            BodyPiece.End(
                byteCount: byteCount, omission: isStillEncoded ? .encoding : omission,
                hash: isStillEncoded ? nil : rest.map(whole)))
    }

    private func redacted(start: [UInt8]) -> [UInt8] {
        isStillEncoded = !Self.isText(start.prefix(Self.probeByteCount))
        return isStillEncoded ? [] : redactor.redact(start)
    }

    /// Compressed data begins with bytes that text never has: 1F 8B (gzip), 28 B5 2F FD (zstd).
    private static func isText(_ start: ArraySlice<UInt8>) -> Bool {
        guard !start.contains(where: { $0 < 0x20 && !"\t\n\r\u{1E}".utf8.contains($0) }) else { return false }
        let scalars = String(decoding: start, as: UTF8.self).unicodeScalars
        return !scalars.dropLast(min(3, scalars.count)).contains("\u{FFFD}")
    }

    private func whole(_ rest: SipHash) -> SipHash.Value {
        var whole = SipHash(key: (0, 0))
        for value in [hash.value, rest.value] {
            whole.update(value.0)
            whole.update(value.1)
        }
        return whole.value
    }
}

// Right because only the keeper's queue uses its state.
final class BodyPieces: @unchecked Sendable {
    private static let pieceByteCount = 64 << 10

    private let place: BodyPlace
    private let contentType: String?
    private let writer: SourceWriter
    private var waiting: [UInt8] = []
    private var pieceCount = 0

    init(of place: BodyPlace, contentType: String?, _ writer: SourceWriter) {
        (self.place, self.contentType, self.writer) = (place, contentType, writer)
    }

    deinit { writer.bodies.adjust(by: -waiting.count) }

    func append(_ bytes: [UInt8], reservedByteCount: Int) {
        waiting += bytes
        writer.bodies.adjust(by: bytes.count - reservedByteCount)
        while waiting.count >= Self.pieceByteCount { store(waiting.prefix(Self.pieceByteCount), end: nil) }
    }

    func finish(_ end: BodyPiece.End) { store(waiting[...], end: end) }

    private func store(_ bytes: ArraySlice<UInt8>, end: BodyPiece.End?) {
        writer.keep(
            BodyPiece(
                part: place.part, exchange: place.exchange, direction: place.direction, number: Int64(pieceCount),
                contentType: contentType, bytes: Array(bytes), end: end))
        pieceCount += 1
        waiting.removeFirst(bytes.count)
    }
}

final class BodyKeeper: Sendable {
    let policy: BodyPolicy
    /// The most bytes of a body, or of all messages in a direction.
    let byteLimit: Int
    let redactor: Redactor
    private let hook: RecordingHook?
    let writer: SourceWriter
    private let queue = DispatchQueue(label: "waybill.bodies", qos: .utility)
    private let generation = ProcessGeneration.current

    init(policy: BodyPolicy, redactor: Redactor, hook: RecordingHook?, writer: SourceWriter) {
        self.policy = policy
        byteLimit = max(0, policy.maximumByteCount)
        self.redactor = redactor
        self.hook = hook
        self.writer = writer
    }

    /// Returns `nil` if the app withholds them.
    func asked(
        _ bytes: [UInt8], of place: BodyPlace, contentType: String?, byteCount: Int64, isWhole: Bool
    ) -> [UInt8]? {
        guard let hook, let request = place.asked else { return bytes }
        let draft = RecordingDraft.Body(
            request: request, direction: place.direction, contentType: contentType, byteCount: byteCount,
            isWhole: isWhole, bytes: bytes)
        guard case .body(let changed)? = hook.ask(.body(draft)) else { return nil }
        return changed.bytes
    }

    /// A forked child has none of the parent's threads.
    func perform(_ body: @escaping @Sendable () -> Void) {
        guard generation == ProcessGeneration.latest else { return }
        queue.async(execute: body)
    }

    func settle() async {
        guard generation == ProcessGeneration.latest else { return }
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
}
