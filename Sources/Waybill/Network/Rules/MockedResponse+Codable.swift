import Foundation
import WaybillCore

extension MockedResponse: Codable {
    private enum Member: String, CodingKey {
        case status
        case headerFields = "headers"
        case text, base64
        case delay = "delay_us"
        case longestDelay = "longest_delay_us"
    }

    /// Reads an answer as `Schemas/rules.v1.schema.json` describes it.
    ///
    /// - Throws: `DecodingError` with where, also for a member that is not known.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.members(Member.self)
        let (delay, longestDelay) = try members.delay(.delay, .longestDelay)
        self.init(
            status: try members.integer(.status, in: 200...599) ?? 200, headerFields: try Self.headerFields(members),
            body: try Self.body(members, decoder), delay: delay, longestDelay: longestDelay)
    }

    private static func headerFields(_ members: KeyedDecodingContainer<Member>) throws -> [Fact.HeaderField] {
        let pairs = try members.value([[String]].self, .headerFields) ?? []
        guard pairs.allSatisfy({ $0.count == 2 && $0.first?.isEmpty == false }) else {
            throw members.failure(.headerFields, "pairs of name and value were expected")
        }
        return pairs.map { Fact.HeaderField(name: $0[0], value: $0[1]) }
    }

    private static func body(_ members: KeyedDecodingContainer<Member>, _ decoder: any Decoder) throws -> Data {
        let text = try members.value(String.self, .text)
        guard let base64 = try members.value(String.self, .base64) else { return Data((text ?? "").utf8) }
        guard text == nil else { throw decoder.failure("one of text and base64 was expected, not both") }
        guard let data = Data(base64Encoded: base64) else {
            throw members.failure(.base64, "base64 (RFC 4648, section 4) was expected")
        }
        return data
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(status, forKey: .status)
        if !headerFields.isEmpty {
            try members.encode(headerFields.map { [$0.name, $0.value] }, forKey: .headerFields)
        }
        if let text = String(utf8: body) {
            if !text.isEmpty { try members.encode(text, forKey: .text) }
        } else {
            try members.encode(body.base64EncodedString(), forKey: .base64)
        }
        if delay > .zero { try members.encode(delay.microseconds, forKey: .delay) }
        try members.encodeIfPresent(longestDelay?.microseconds, forKey: .longestDelay)
    }
}
