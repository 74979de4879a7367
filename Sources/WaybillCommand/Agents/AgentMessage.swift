#if Collector
/// A request or a notification of a client. Members that this server doesn't use are ignored.
struct AgentMessage: Decodable {
    /// `nil` for a notification.
    var id: AgentValue?
    /// `nil` for an answer of the client.
    var method: String?
    var params: Parameters?

    struct Parameters: Decodable {
        /// The version of a client that begins with `initialize`.
        var protocolVersion: String?
        var name: String?
        var arguments: AgentValue.Members?
        var meta: Meta?

        private enum CodingKeys: String, CodingKey {
            case protocolVersion, name, arguments
            case meta = "_meta"
        }
    }

    struct Meta: Decodable {
        var version: String?

        private enum CodingKeys: String, CodingKey {
            case version = "io.modelcontextprotocol/protocolVersion"
        }
    }
}

enum AgentValue: Codable, Sendable {
    typealias Members = [String: AgentValue]

    case null
    case flag(Bool)
    case number(Int64)
    case text(String)
    case list([AgentValue])
    case object(Members)

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let number = try? container.decode(Int64.self) {
            self = .number(number)
        } else if let words = try? container.decode([String].self) {
            self = .texts(words)
        } else {
            self = .object(try container.decode(Members.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .flag(let flag): try container.encode(flag)
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .list(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }

    /// The value of an option, which joins lists of words.
    var text: String? {
        switch self {
        case .text(let text): text
        case .number(let number): "\(number)"
        case .list(let words): words.compactMap(\.text).joined(separator: ",")
        case .null, .flag, .object: nil
        }
    }

    static func texts(_ texts: [String]) -> AgentValue { .list(texts.map(AgentValue.text)) }
}

extension AgentValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
    init(stringLiteral text: String) { self = .text(text) }

    init(booleanLiteral flag: Bool) { self = .flag(flag) }

    init(integerLiteral number: Int64) { self = .number(number) }
}

extension AgentValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    init(arrayLiteral values: AgentValue...) { self = .list(values) }

    init(dictionaryLiteral members: (String, AgentValue)...) {
        self = .object(Dictionary(members) { first, _ in first })
    }
}

/// JSON-RPC 2.0, section 5.1, and the protocol's own.
enum AgentFailure: Int64 {
    case parseError = -32_700
    case invalidRequest = -32_600
    case unknownMethod = -32_601
    case invalidParams = -32_602
    case unsupportedVersion = -32_022
}
#endif
