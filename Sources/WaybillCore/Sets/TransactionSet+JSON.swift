/// How a set is written, as `Schemas/transaction-set.v1.schema.json` describes it. What is empty, false or nil is left
/// out.
extension TransactionSet {
    /// The set as JSON of media type ``mediaType``.
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
        writer.array("dropped", dropped.filter { $0.reason != .sampled }) { range, writer in
            writer.member("first", range.first)
            writer.member("last", range.last)
            writer.member("reason", range.reason.rawValue)
        }
        writer.pairs("sampled", dropped.filter { $0.reason == .sampled })
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

extension RecordedSource {
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
            for (reason, count) in dropped.sorted(by: { $0.key < $1.key }) {
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
    /// An array of the first and the last sequence of each range; nothing where there are none.
    fileprivate mutating func pairs(_ name: StaticString, _ ranges: [DroppedRange]) {
        guard !ranges.isEmpty else { return }
        key(name)
        beginArray()
        for range in ranges {
            beginArray()
            integer(range.first)
            integer(range.last)
            endArray()
        }
        endArray()
    }

    /// An array of objects; nothing where there are none.
    package mutating func array<Element>(
        _ name: StaticString, _ elements: [Element], _ write: (Element, inout JSONWriter) -> Void
    ) {
        guard !elements.isEmpty else { return }
        key(name)
        beginArray()
        for element in elements {
            beginObject()
            write(element, &self)
            endObject()
        }
        endArray()
    }
}
