/// Leaves out members that are empty, false or `nil`.
extension TransactionSet {
    package func encoded() -> [UInt8] {
        var writer = JSONWriter(capacity: 1024 + 192 * factCount)
        writer.beginObject()
        writer.member("version", Self.version)
        writer.member("set", id)
        writer.key("sources")
        writer.beginArray()
        for share in sources { share.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }
}

extension TransactionSet.Share {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        source.write(to: &writer)
        writer.member("source_proof", sourceProof?.text)
        writer.member("installation_proof", installationProof?.text)
        writer.member("ended", hasEnded)
        writer.member("ended_by", endedBy?.name)
        writer.array("clocks", clocks) { clock, writer in
            writer.member("at_us", clock.atMicroseconds)
            writer.member("offset_us", clock.offsetMicroseconds)
        }
        writer.array("names", names) { name, writer in
            writer.member("use_case", name.useCase)
            writer.member("event", name.event)
            writer.member("name", Optional(name.name))
        }
        writer.key("ledger")
        ledger.write(to: &writer)
        writer.array("dropped", dropped) { range, writer in
            writer.member("first", range.first)
            writer.member("last", range.last)
            writer.member("reason", range.reason.rawValue)
        }
        writer.array("continues", continuedParts) { part, writer in
            writer.member("part", part.part)
            writer.member("transaction", part.transaction)
            writer.member("use_case", part.useCase)
        }
        if !facts.isEmpty {
            writer.key("facts")
            writer.beginArray()
            for fact in facts { fact.write(to: &writer) }
            writer.endArray()
        }
        writer.endObject()
    }
}

extension SourceIdentity {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("source", id)
        if let installation { writer.member("installation", installation) }
        writer.member("app", app)
        writer.member("app_version", appVersion)
        writer.member("device", device)
        writer.member("os", os)
        writer.member("os_version", osVersion)
        writer.member("attributes", attributes)
    }
}

extension Ledger {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("recorded", recorded)
        writer.member("delivered", delivered)
        writer.member("quarantined", quarantined)
        if !dropped.isEmpty {
            writer.key("dropped")
            writer.beginObject()
            for (reason, count) in dropped.ordered(by: { $0.key < $1.key }) {
                writer.key(reason)
                writer.integer(count)
            }
            writer.endObject()
        }
        writer.member("pending", pending)
        writer.member("refused", refused)
        writer.endObject()
    }
}

extension JSONWriter {
    /// Appends an array of objects. Omits an empty array.
    package mutating func array<Element>(
        _ name: StaticString, _ elements: [Element], _ write: (Element, inout JSONWriter) -> Void
    ) {
        guard !elements.isEmpty else { return }
        key(name)
        objects(elements, write)
    }

    package mutating func objects<Element>(_ elements: [Element], _ write: (Element, inout JSONWriter) -> Void) {
        beginArray()
        for element in elements {
            beginObject()
            write(element, &self)
            endObject()
        }
        endArray()
    }
}

/// A fault in the envelope rejects the set; a fault in a fact rejects that fact.
extension TransactionSet {
    /// The most unreadable facts that are rejected one by one.
    static let rejectionLimit = 10_000

    package static func decode(_ bytes: [UInt8]) throws(SetDecodingFailure) -> TransactionSet {
        try SetDecodingFailure.decoding(bytes) { reader throws(JSONFailure) in try read(&reader) }
    }

    private static func read(_ reader: inout JSONReader) throws(JSONFailure) -> TransactionSet {
        var id: GUID?
        var shares: [ShareReader]?
        let start = try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "version": try checkVersion(&reader)
            case "set": id = try reader.guid()
            case "sources": shares = try self.shares(&reader)
            default: try reader.skipValue()
            }
        }
        let found = try reader.required(shares, "sources", at: start)
        if id == nil || found.contains(where: \.isAnonymous) {
            let digest = SHA256.hash(Array(reader.bytes))
            for (index, share) in found.enumerated() where share.isAnonymous {
                share.identify(as: GUID(digest, number: index + 1))
            }
            id = id ?? GUID(digest, number: 0)
        }
        return TransactionSet(
            id: try reader.required(id, "set", at: start), sources: found.map(\.share),
            rejections: found.flatMap(\.rejections))
    }

    /// Throws for other versions, which have another meaning. A set without a version has version 1.
    private static func checkVersion(_ reader: inout JSONReader) throws(JSONFailure) {
        reader.skipWhitespace()
        let start = reader.offset
        let version: Int64 = try reader.count()
        guard version == Self.version else {
            throw JSONFailure(
                .invalid, at: start,
                "a set of version \(Self.version) was expected, and this is one of version \(version); update Waybill to read it"
            )
        }
    }

    private static func shares(_ reader: inout JSONReader) throws(JSONFailure) -> [ShareReader] {
        var shares: [ShareReader] = []
        var sources: Set<GUID> = []
        var rejectionCount = 0
        var room = EnvelopeRoom()
        let start = try reader.beginArray()
        while try reader.nextElement() {
            reader.skipWhitespace()
            let offset = reader.offset
            guard shares.count < Limits.sources else {
                throw JSONFailure(.invalid, at: start, "more than \(Limits.sources) sources")
            }
            let share = try ShareReader(&reader, &room)
            guard share.isAnonymous || sources.insert(share.share.source.id).inserted else {
                throw JSONFailure(.invalid, at: offset, "the same source a second time")
            }
            rejectionCount += share.rejections.count
            guard rejectionCount <= rejectionLimit else {
                throw JSONFailure(.invalid, at: start, "more than \(rejectionLimit) facts that cannot be read")
            }
            shares.append(share)
        }
        guard !shares.isEmpty else { throw JSONFailure(.invalid, at: start, "at least one source was expected") }
        return shares
    }
}

private struct EnvelopeRoom {
    var clocks = Limits.envelopeItems
    var names = Limits.envelopeItems
    var dropped = Limits.envelopeItems
    var continuedParts = Limits.envelopeItems
}

private final class ShareReader {
    var share: TransactionSet.Share
    var rejections: [Receipt.Rejection]
    /// Whether the source has no ID. A hash of the set then becomes its ID, and the same bytes are the same source.
    let isAnonymous: Bool

    func identify(as id: GUID) {
        share.source.id = id
        for index in rejections.indices { rejections[index].source = id }
    }

    init(_ reader: inout JSONReader, _ room: inout EnvelopeRoom) throws(JSONFailure) {
        var id: GUID?
        var clocks: [ClockAnchor]?
        var ledger: Ledger?
        var share = TransactionSet.Share(source: SourceIdentity(id: GUID(high: 0, low: 0)), clocks: [])
        var order = FactOrder()
        var rejected: [Receipt.Rejection] = []
        let start = try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "source": id = try reader.guid()
            case "installation": share.source.installation = try reader.guid()
            case "source_proof": share.sourceProof = try reader.identityProof()
            case "installation_proof": share.installationProof = try reader.identityProof()
            case "app": share.source.app = try reader.string(limit: Limits.labelLength)
            case "app_version": share.source.appVersion = try reader.string(limit: Limits.labelLength)
            case "device": share.source.device = try reader.string(limit: Limits.labelLength)
            case "os": share.source.os = try reader.string(limit: Limits.labelLength)
            case "os_version": share.source.osVersion = try reader.string(limit: Limits.labelLength)
            case "attributes": share.source.attributes = try reader.attributes()
            case "ended": share.hasEnded = try reader.bool()
            case "ended_by": share.endedBy = SourceEnd(name: try reader.string(limit: Limits.labelLength))
            case "clocks": clocks = try reader.clocks(&room.clocks)
            case "names": share.names = try reader.names(&room.names)
            case "ledger": ledger = try reader.ledger()
            case "dropped": share.dropped = try reader.droppedRanges(&room.dropped)
            case "continues": share.continuedParts = try reader.continuedParts(&room.continuedParts)
            case "facts":
                order = FactOrder()
                (share.facts, rejected) = try Self.facts(&reader, &order)
            default: try reader.skipValue()
            }
        }
        isAnonymous = id == nil
        guard id == nil || !order.hasUnnumbered else {
            throw JSONFailure(
                .invalid, at: start, "`sequence` is missing in a fact: omit it only in a source without `source`")
        }
        let anchors =
            clocks
            ?? order.wallIndices.first.map {
                [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: share.facts[$0].atMicroseconds)]
            }
        share.clocks = try reader.required(anchors, "clocks", at: start)
        for index in order.wallIndices {
            let wall = share.facts[index].atMicroseconds
            let anchor = share.clocks.last { wall - $0.offsetMicroseconds >= $0.atMicroseconds } ?? share.clocks[0]
            share.facts[index].atMicroseconds = wall - anchor.offsetMicroseconds
        }
        share.names += order.names.subtracting(share.names).ordered {
            ($0.useCase, $0.event ?? -1, $0.name) < ($1.useCase, $1.event ?? -1, $1.name)
        }
        let highest = share.facts.lazy.map(\.sequence).max() ?? 0
        let count = Int64(share.facts.count + rejected.count)
        share.ledger =
            ledger
            ?? Ledger(
                recorded: max(highest, count), delivered: max(0, highest - count), pending: count)
        self.share = share
        rejections = rejected
        if let id { identify(as: id) }
    }

    /// Reads a list of facts, and sorts out other JSON. Their source's ID may come later.
    private static func facts(
        _ reader: inout JSONReader, _ order: inout FactOrder
    ) throws(JSONFailure) -> ([Fact], [Receipt.Rejection]) {
        var facts: [Fact] = []
        var rejected: [Receipt.Rejection] = []
        var index = 0
        try reader.beginArray()
        while try reader.nextElement() {
            reader.skipWhitespace()
            let before = reader
            do throws(JSONFailure) {
                facts.append(try Fact.read(&reader, in: &order))
            } catch {
                reader = before
                try reader.skipValue()
                order.skip(Fact.kind(of: before))
                guard rejected.count < TransactionSet.rejectionLimit else {
                    throw JSONFailure(
                        .invalid, at: before.offset,
                        "more than \(TransactionSet.rejectionLimit) facts that cannot be read")
                }
                let bytes = UnsafeBufferPointer(rebasing: before.bytes[before.offset..<reader.offset])
                let pointer = JSONPointer.path(to: error.offset - before.offset, in: bytes)
                rejected.append(
                    Receipt.Rejection(
                        source: GUID(high: 0, low: 0), sequence: sequence(of: before), index: index,
                        reason: pointer.isEmpty ? error.message : "\(pointer): \(error.message)"))
            }
            index += 1
        }
        return (facts, rejected)
    }

    private static func sequence(of reader: JSONReader) -> Int64? {
        // A failure is no news: the fact is being rejected, and only its number is wanted here.
        guard var ahead = try? reader.ahead(at: "sequence") else { return nil }
        return try? ahead.integer(in: 1...Limits.largestInteger)
    }
}
