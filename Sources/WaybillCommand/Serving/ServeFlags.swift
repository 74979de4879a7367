#if Collector
import ArgumentParser
import Configuration

/// The settings that are options of `waybill serve`.
///
/// ArgumentParser finds options in a type's mirror and decodes them by name, so they need no properties.
struct ServeFlags: ParsableArguments, CustomReflectable {
    private(set) var values: [AbsoluteConfigKey: ConfigValue] = [:]

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        for setting in ServeSetting.all {
            let key = Key(stringValue: setting.name)
            let content: ConfigContent?
            switch setting.value {
            case .flag: content = try container.decode(Flag<Bool>.self, forKey: key).wrappedValue ? .bool(true) : nil
            case .number: content = try container.decode(Option<Int?>.self, forKey: key).wrappedValue.map { .int($0) }
            case .text, .word, .url, .origin:
                content = try container.decode(Option<String?>.self, forKey: key).wrappedValue.map { .string($0) }
            case .list:
                let items = try container.decode(Option<[String]>.self, forKey: key).wrappedValue
                content = items.isEmpty ? nil : .string(items.joined(separator: ","))
            case .secret: content = nil
            }
            values[AbsoluteConfigKey([setting.name])] = content.map { ConfigValue($0, isSecret: false) }
        }
    }

    var customMirror: Mirror {
        Mirror(
            self,
            children: ServeSetting.all.compactMap { setting -> Mirror.Child? in
                let help = setting.help
                return switch setting.value {
                case .flag: (setting.name, Flag(wrappedValue: false, help: help))
                case .number: (setting.name, Option<Int?>(help: help))
                case .text, .word, .url, .origin: (setting.name, Option<String?>(help: help))
                case .list: (setting.name, Option<[String]>(wrappedValue: [], help: help))
                case .secret: nil
                }
            })
    }

    /// A store in one file is only shown, and has no use for these.
    private static let ofCollectors: Set = [
        "maxBodyBytes", "maxDecompressedBytes", "maxPendingBytes", "maxSetFacts", "maxTransactionFacts",
        "maxRequestsPerSecond", "retentionDays", "maxStoreBytes", "maxTransactions", "sessionHours", "sample", "otlp",
        "check", "webhook",
    ]

    /// The given options that only a collector can follow.
    var ofCollectors: [String] {
        ServeSetting.all.filter { Self.ofCollectors.contains($0.name) && values[AbsoluteConfigKey([$0.name])] != nil }
            .map(\.option)
    }

    func validate() throws {
        guard case .int(let port)? = values[AbsoluteConfigKey(["port"])]?.content else { return }
        guard (0...65_535).contains(port) else { throw ValidationError("A port is a number from 0 to 65535.") }
    }
}
#endif
