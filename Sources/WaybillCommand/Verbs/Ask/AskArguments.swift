#if Collector
import ArgumentParser
import WaybillAnalysis
import WaybillCollector
import WaybillCore
import WaybillReading

/// A point of a transaction on the command line: `^`, `$`, or an event's name.
struct PointArgument: ExpressibleByArgument, CustomStringConvertible {
    let point: TransactionPoint

    init(_ point: TransactionPoint) { self.point = point }

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        point = TransactionPoint(argument)
    }

    var description: String { point.description }
    var defaultValueDescription: String { description }
}

/// What transactions are told apart by, on the command line.
struct SegmentArgument: ExpressibleByArgument {
    let segmentation: Segmentation

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        segmentation = Segmentation(argument)
    }
}

/// Catches `--by` where a question has none, which would else be taken for a misspelt option.
struct NoSegment: ParsableArguments {
    @Option(help: .hidden)
    var by: String?

    func validate() throws {
        guard let by else { return }
        throw ValidationError(
            "This question takes no --by. Ask duration, measure, funnel, legs or compare --by \(by.isEmpty ? "version" : by); or narrow this one with a filter, such as 'version:1.4'."
        )
    }
}

/// What requests are told apart by, on the command line.
enum GroupingArgument: String, ExpressibleByArgument, CaseIterable {
    case host, path, method

    var grouping: NetworkQuestion.Grouping {
        switch self {
        case .host: .host
        case .path: .path
        case .method: .method
        }
    }
}

/// A sample on the command line, as `1/100`.
struct SampleArgument: ExpressibleByArgument {
    /// Of a filter.
    let term: String

    init?(argument: String) {
        let parts = argument.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "1", let count = Int(parts[1]),
            FilterCondition.sampleRange.contains(count)
        else { return nil }
        term = FilterCondition.oneIn(count).description
    }
}

/// A length of time on the command line, as `30s`, `10m`, `1h` or `7d`.
struct StepArgument: ExpressibleByArgument {
    let length: Duration

    init(_ length: Duration) { self.length = length }

    init?(argument: String) {
        guard let microseconds = TimeExpression.length(argument), microseconds > 0 else { return nil }
        length = .microseconds(microseconds)
    }

    var defaultValueDescription: String { "1d" }
}
#endif
