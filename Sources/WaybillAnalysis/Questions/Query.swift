/// A question about many transactions, as a value: the same question can be asked of any store, of a collector, and later of other engines.
public enum Query: Hashable, Sendable {
    /// How often each use case was run, and how it ended.
    case summary(SummaryQuery)
    /// How long it takes from one point to another.
    case duration(DurationQuery)
    /// How long it takes from each event to the next.
    case transitions(TransitionsQuery)
    /// How many get how far, step by step.
    case funnel(FunnelQuery)
    /// What those did last who did not finish.
    case dropOff(DropOffQuery)
    /// Where the time goes: client, network, server.
    case legs(LegsQuery)
    /// Which requests are made, how they end, and how long they take.
    case network(NetworkQuery)
    /// Whether one group of transactions does better than another.
    case compare(CompareQuery)
}

/// The answer to a ``Query``, case for case.
public enum Answer: Hashable, Sendable {
    case summary(SummaryAnswer)
    case duration(DurationAnswer)
    case transitions(TransitionsAnswer)
    case funnel(FunnelAnswer)
    case dropOff(DropOffAnswer)
    case legs(LegsAnswer)
    case network(NetworkAnswer)
    case compare(CompareAnswer)

    /// One sentence on why there is nothing in it; nil where there is something.
    public var whyEmpty: String? {
        switch self {
        case .summary(let answer): answer.whyEmpty
        case .duration(let answer): answer.whyEmpty
        case .transitions(let answer): answer.whyEmpty
        case .funnel(let answer): answer.whyEmpty
        case .dropOff(let answer): answer.whyEmpty
        case .legs(let answer): answer.whyEmpty
        case .network(let answer): answer.whyEmpty
        case .compare(let answer): answer.whyEmpty
        }
    }
}

/// A point in a transaction.
///
/// Events go by their names, so that versions of an app that number them differently count together; one that has no name is `event 7`.
public enum TransactionPoint: Hashable, Sendable {
    /// The beginning.
    case begun
    /// The outcome, where its leading part has one that was recorded.
    case finished
    /// An event of any of the sources that took part.
    case event(String)
}

extension TransactionPoint: Codable, CustomStringConvertible {
    /// As it is written: `^` the beginning, `$` the outcome, else the event's name.
    public init(_ text: String) {
        self =
            switch text {
            case "^": .begun
            case "$": .finished
            default: .event(text)
            }
    }

    public var description: String {
        switch self {
        case .begun: "^"
        case .finished: "$"
        case .event(let name): name
        }
    }

    public init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(String.self)) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// What transactions are told apart by, e.g. the variants of a test.
public enum Segmentation: Hashable, Sendable {
    /// The value of an attribute that was given when the transaction was begun.
    case attribute(String)
    /// Of the source that began it.
    case app, appVersion, device, os, osVersion
    /// The UTC hour or day of its beginning.
    case hour, day
}

extension Segmentation: Codable, CustomStringConvertible {
    /// As it is written: `app`, `version`, `device`, `os`, `osVersion`, `hour`, `day`; anything else is an attribute's name, which may be put as
    /// `attribute.app` where it is one of these words.
    public init(_ text: String) {
        self =
            switch text {
            case "app": .app
            case "version": .appVersion
            case "device": .device
            case "os": .os
            case "osVersion": .osVersion
            case "hour": .hour
            case "day": .day
            default: .attribute(text.hasPrefix(Self.prefix) ? String(text.dropFirst(Self.prefix.count)) : text)
            }
    }

    private static let prefix = "attribute."

    public var description: String {
        switch self {
        case .attribute(let name): Segmentation(name) == .attribute(name) && !name.hasPrefix(Self.prefix) ? name : Self.prefix + name
        case .app: "app"
        case .appVersion: "version"
        case .device: "device"
        case .os: "os"
        case .osVersion: "osVersion"
        case .hour: "hour"
        case .day: "day"
        }
    }

    public init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(String.self)) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
