#if Collector
import ArgumentParser
import Foundation
import WaybillCollector
import WaybillCore
import WaybillQueries

extension Ask {
    struct Summary: AskCommand {
        static let configuration = CommandConfiguration(
            abstract: "How often each use case was run, how it ended, and with which errors.")

        @OptionGroup var options: AskOptions

        @OptionGroup var noSegment: NoSegment

        @OptionGroup var certifying: CertifyOptions

        @Option(help: ArgumentHelp("The length of the steps of the small chart, at least 1m.", valueName: "time"))
        var every = StepArgument(.seconds(86_400))

        func validate() throws {
            guard every.length >= .seconds(60) else { throw ValidationError("--every is at least 1m.") }
        }

        func question() -> AnyQuestion {
            var question = SummaryQuestion(step: every.length)
            question.isCertified = certifying.isCertified
            return .summary(question)
        }
    }

    struct DurationBetween: AskCommand {
        static let configuration = CommandConfiguration(
            commandName: AnyQuestion.Word.duration.rawValue,
            abstract: "How long it takes, in all or from one event to another.")

        @OptionGroup var options: AskOptions

        @OptionGroup var certifying: CertifyOptions

        @Option(help: ArgumentHelp("Where it starts.", valueName: "event"))
        var from = TransactionPoint.begun

        @Option(help: ArgumentHelp("Where it ends.", valueName: "event"))
        var to = TransactionPoint.finished

        @Flag(help: "Use the last of repeated events instead of the first.")
        var last = false

        @Option(help: ArgumentHelp("Group transactions by this.", valueName: "segment"))
        var by: Segmentation?

        @Option(
            help: ArgumentHelp(
                "Also print p50, p95 and outcomes over time, in steps of this length, at least 1m.", valueName: "time"))
        var every: StepArgument?

        func validate() throws {
            guard every.map({ $0.length >= .seconds(60) }) ?? true else {
                throw ValidationError("--every is at least 1m.")
            }
        }

        func question() -> AnyQuestion {
            var question = DurationQuestion(
                filter: TransactionFilter(), from: from, to: to, occurrence: last ? .last : .first,
                segmentation: by)
            question.step = every?.length
            question.isCertified = certifying.isCertified
            return .duration(question)
        }
    }

    struct Measure: AskCommand {
        static let configuration = CommandConfiguration(
            abstract: "What a numeric attribute looks like: its percentiles, in all or by version.")

        @OptionGroup var options: AskOptions

        @Option(help: ArgumentHelp("The attribute's name.", valueName: "attribute"))
        var of: String

        @Option(help: ArgumentHelp("Group transactions by this.", valueName: "segment"))
        var by: Segmentation?

        func question() -> AnyQuestion {
            .measure(MeasureQuestion(attribute: of, segmentation: by))
        }
    }

    struct Transitions: AskCommand {
        static let configuration = CommandConfiguration(abstract: "How long it takes from each event to the next.")

        @OptionGroup var options: AskOptions

        @OptionGroup var noSegment: NoSegment

        func question() -> AnyQuestion { .transitions(TransitionsQuestion(filter: TransactionFilter())) }
    }

    struct Funnel: AskCommand {
        static let configuration = CommandConfiguration(abstract: "How many get how far, step by step.")

        @OptionGroup var options: AskOptions

        @OptionGroup var certifying: CertifyOptions

        @Option(
            help: ArgumentHelp("The events in order, separated by commas, e.g. '^,requestSent,$'.", valueName: "events")
        )
        var steps: String

        @Option(help: ArgumentHelp("The longest time from the first step to any other.", valueName: "time"))
        var within: StepArgument?

        @Flag(help: "Allow no other event between two steps.")
        var strict = false

        @Option(help: ArgumentHelp("Group transactions by this.", valueName: "segment"))
        var by: Segmentation?

        func question() -> AnyQuestion {
            var question = FunnelQuestion(
                filter: TransactionFilter(),
                steps: steps.split(separator: ",").map { TransactionPoint(String($0)) },
                window: within?.length, isStrict: strict, segmentation: by)
            question.isCertified = certifying.isCertified
            return .funnel(question)
        }
    }

    struct DropOff: AskCommand {
        static let configuration = CommandConfiguration(
            commandName: AnyQuestion.Word.dropOff.rawValue, abstract: "What those did last who did not finish.",
            discussion: "Those are the abandoned, interrupted and timed out, unless --outcome says others.")

        @OptionGroup var options: AskOptions

        @OptionGroup var noSegment: NoSegment

        func question() -> AnyQuestion { .dropOff(DropOffQuestion(filter: TransactionFilter())) }
    }

    struct Legs: AskCommand {
        static let configuration = CommandConfiguration(
            abstract: "Where the time goes: client, network, server.",
            discussion:
                "Of each closed transaction with a request, all of its time is divided; clocks that differ are taken into account."
        )

        @OptionGroup var options: AskOptions

        @Option(help: ArgumentHelp("Group transactions by this.", valueName: "segment"))
        var by: Segmentation?

        func question() -> AnyQuestion {
            .legs(LegsQuestion(filter: TransactionFilter(), segmentation: by))
        }
    }

    struct Network: AskCommand {
        static let configuration = CommandConfiguration(
            abstract: "Which requests are made, how they end, and how long they take.",
            discussion: """
                IDs in paths are folded; --by method tells endpoints apart. --use-case and --outcome are those of a request's transaction, the times are when it was opened, and --text \
                is found in its method, URL, header fields, error or kept bodies; a FILTER is about exchanges, as that of waybill list --network. The \
                codes of the slowest and the failing go to waybill show.
                """)

        @OptionGroup var options: AskOptions

        @OptionGroup var exchanges: ExchangeOptions

        @Option(help: "What goes together: \(NetworkQuestion.Grouping.allValueStrings.joined(separator: ", ")).")
        var by = NetworkQuestion.Grouping.path

        @Option(
            help: ArgumentHelp(
                "The order of the rows: \(NetworkQuestion.Sort.allValueStrings.joined(separator: ", ")).",
                valueName: "column"))
        var sort = NetworkQuestion.Sort.count

        @Option(help: ArgumentHelp("The most rows. One more row counts the others.", valueName: "count"))
        var limit = NetworkQuestion.groupLimit

        @Option(
            help: ArgumentHelp(
                "Fold paths like this one, e.g. '/users/{name}'. Repeat it for several.", valueName: "path"))
        var template: [String] = []

        func validate() throws {
            guard (1...NetworkQuestion.groupLimit).contains(limit) else {
                throw ValidationError("--limit is from 1 to \(NetworkQuestion.groupLimit).")
            }
            if let mistake = NetworkQuestion.mistake(in: template) { throw ValidationError(mistake) }
        }

        func question() -> AnyQuestion {
            var question = NetworkQuestion(grouping: by, sort: sort, limit: limit)
            question.templates = template
            return .network(question)
        }

        var request: ListRequest { exchanges.added(to: options.request) }

        static var subject: ListRequest.Subject { .exchanges }
    }
}

extension Ask {
    struct Errors: AskCommand {
        static let configuration = CommandConfiguration(
            abstract: "Which errors transactions closed with, how often, and which of them are new.",
            discussion: """
                Domain, name and innermost cause identify an error. Without a name, the code does. Errors of events and requests count only if their \
                transaction closed with them. An error is new if no transaction in the whole store closed with it before the time of --new-since.
                """)

        @OptionGroup var options: AskOptions

        @OptionGroup var noSegment: NoSegment

        @Option(
            help: ArgumentHelp(
                "Mark errors that first occurred at or after this time: \(TimeExpression.forms).", valueName: "time"))
        var newSince: String?

        @Option(
            help: "The order: \(ErrorsQuestion.Order.allCases.map(\.rawValue).joined(separator: ", "))."
        )
        var sort = ErrorsQuestion.Order.count

        @Option(
            help: "The most errors, \(ErrorsQuestion.limits.lowerBound) to \(ErrorsQuestion.limits.upperBound).")
        var limit = 20

        func validate() throws {
            try ErrorsQuestion.limits.validate(limit: limit)
            _ = try newSince(now: 0)
        }

        func question() throws -> AnyQuestion {
            let newSince = try newSince(now: CommandClock.current.wallMicroseconds())
            return .errors(
                ErrorsQuestion(newSince: newSince.map { Date(microseconds: $0) }, order: sort, limit: limit))
        }

        private func newSince(now: Int64) throws -> Int64? {
            guard let newSince else { return nil }
            guard let time = TimeExpression.microseconds(newSince, now: now) else {
                throw ValidationError("“\(newSince)” is not a time. Give \(TimeExpression.forms).")
            }
            return time
        }
    }
}

extension Ask {
    struct Compare: AskCommand {
        static let configuration = CommandConfiguration(
            abstract: "Whether one group of transactions does better than another, or whether it is noise.",
            discussion: """
                With --by the groups are those with the values --a and --b; an empty one stands for those that have none. Without it they are those \
                begun in two stretches of time, as 48h..24h and 24h..0h, or 2026-03-01..2026-03-02.
                """)

        @OptionGroup var options: AskOptions

        @OptionGroup var certifying: CertifyOptions

        @Option(help: ArgumentHelp("The attribute or property that separates the groups.", valueName: "segment"))
        var by: Segmentation?

        @Option(help: ArgumentHelp("The first group.", valueName: "value"))
        var a: String

        @Option(help: ArgumentHelp("The second group.", valueName: "value"))
        var b: String

        @Option(help: ArgumentHelp("Where the duration starts.", valueName: "event"))
        var from = TransactionPoint.begun

        @Option(help: ArgumentHelp("Where the duration ends.", valueName: "event"))
        var to = TransactionPoint.finished

        @Flag(help: "Use the last of repeated events instead of the first.")
        var last = false

        func validate() throws { _ = try groups(now: 0) }

        func question() throws -> AnyQuestion {
            var question = CompareQuestion(
                filter: TransactionFilter(), groups: try groups(now: CommandClock.current.wallMicroseconds()),
                from: from, to: to, occurrence: last ? .last : .first)
            question.isCertified = certifying.isCertified
            return .compare(question)
        }

        private func groups(now: Int64) throws -> CompareQuestion.Groups {
            if let by { return .values(of: by, a.isEmpty ? nil : a, b.isEmpty ? nil : b) }
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

extension Ask {
    struct Why: AskCommand {
        static let configuration = CommandConfiguration(
            abstract: "What sets some transactions apart from the others of their use case.",
            discussion: """
                The filter chooses transactions: the failed ones, or 'took>2s'. The others have the same use case and time, and have ended. Compared \
                are attributes, versions, devices, systems, requests and events.
                """)

        @OptionGroup var options: AskOptions

        @OptionGroup var noSegment: NoSegment

        @Option(
            help: "The most differences, \(WhyQuestion.limits.lowerBound) to \(WhyQuestion.limits.upperBound).")
        var limit = 20

        func validate() throws { try WhyQuestion.limits.validate(limit: limit) }

        func question() -> AnyQuestion { .why(WhyQuestion(filter: TransactionFilter(), limit: limit)) }
    }
}

extension ClosedRange<Int> {
    fileprivate func validate(limit: Int) throws {
        guard contains(limit) else { throw ValidationError("--limit is \(lowerBound) to \(upperBound).") }
    }
}
#endif
