#if Collector
import ArgumentParser
import Foundation
import WaybillAnalysis
import WaybillCollector
import WaybillCore
import WaybillReading

extension Ask {
    /// `waybill ask compare`.
    struct Compare: AskCommand {
        static let configuration = CommandConfiguration(
            abstract: "Whether one group of transactions does better than another, or whether it is noise.",
            discussion: """
                With --by the groups are those with the values --a and --b; an empty one stands for those that have none. Without it they are those \
                begun in two stretches of time, as 48h..24h and 24h..0h, or 2026-03-01..2026-03-02.
                """)

        @OptionGroup var options: AskOptions

        @Option(help: ArgumentHelp("What sets the groups apart.", valueName: "segment"))
        var by: SegmentArgument?

        @Option(help: ArgumentHelp("What is compared with.", valueName: "value"))
        var a: String

        @Option(help: ArgumentHelp("What is compared.", valueName: "value"))
        var b: String

        @Option(help: ArgumentHelp("Where the duration starts.", valueName: "event"))
        var from = PointArgument(.begun)

        @Option(help: ArgumentHelp("Where the duration ends.", valueName: "event"))
        var to = PointArgument(.finished)

        @Flag(help: "Of an event that comes several times, take the last rather than the first.")
        var last = false

        func validate() throws { _ = try groups(now: 0) }

        func question() throws -> AnyQuestion {
            .compare(
                CompareQuestion(
                    filter: TransactionFilter(), groups: try groups(now: CommandClock.current.wallMicroseconds()),
                    from: from.point,
                    to: to.point, occurrence: last ? .last : .first))
        }

        private func groups(now: Int64) throws -> CompareQuestion.Groups {
            if let by { return .values(of: by.segmentation, a.isEmpty ? nil : a, b.isEmpty ? nil : b) }
            return .windows(try Self.window(a, now: now), try Self.window(b, now: now))
        }

        private static func window(_ text: String, now: Int64) throws -> Range<Date> {
            guard let window = TimeExpression.window(text, now: now) else {
                throw ValidationError(
                    "“\(text)” is no stretch of time, as 48h..24h; or say with --by what has this value.")
            }
            return Range(microseconds: window)
        }
    }
}
#endif
