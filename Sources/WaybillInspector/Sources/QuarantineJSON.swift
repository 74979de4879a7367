package import WaybillCore

/// Facts in quarantine as JSON: an array of objects, each with the fact as `Schemas/fact.v1.schema.json` describes it.
package enum QuarantineJSON {
    package static func bytes(_ quarantined: Redacted<[QuarantinedFact]>) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginArray()
        for entry in quarantined.value {
            writer.beginObject()
            writer.member("source", entry.id.source)
            writer.member("sequence", entry.id.sequence)
            writer.member("reason", entry.reason)
            writer.member("rejected_at_us", entry.rejectedAtMicroseconds)
            if let fact = entry.fact {
                writer.key("fact")
                fact.write(to: &writer)
            }
            writer.endObject()
        }
        writer.endArray()
        return writer.bytes
    }

    /// One fact.
    static func text(_ fact: Fact) -> String {
        var writer = JSONWriter()
        fact.write(to: &writer)
        return writer.text
    }
}
