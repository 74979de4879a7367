#if Tracing
import Foundation
import Tracing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

enum Login: Int, UseCase {
    static let code = 0
    case initiated = 0
}

enum Purchase: Int, UseCase {
    static let code = 1
    case started = 0
}

struct Broken: Error {}

/// An instant that a test chooses.
struct Moment: TracerInstant {
    let nanosecondsSinceEpoch: UInt64

    init(_ nanoseconds: UInt64) { nanosecondsSinceEpoch = nanoseconds }

    static func < (left: Moment, right: Moment) -> Bool { left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch }
}

/// A value of an app that uses the current span when it is described.
struct Curious: CustomStringConvertible {
    let text: String
    let ends: Bool

    var description: String {
        Self.useSpan(ends: ends)
        return text
    }

    static func useSpan(ends: Bool) {
        guard let context = ServiceContext.current,
            let span = InstrumentationSystem.tracer.activeSpan(identifiedBy: context)
        else { return }
        span.attributes["asked"] = true
        span.operationName += "!"
        if ends { span.end() }
    }
}

extension URL {
    static let items = URL(filePath: "/items").httpURL
    private var httpURL: URL { URL(string: "https://api.example.com\(path())?page=2") ?? self }
}

extension TransactionManager {
    /// Makes a manager that is its own server.
    static func tracing(
        recording: RecordingHealth.Mode = .on, willRecord: (@Sendable (RecordingDraft) -> RecordingDraft?)? = nil
    ) -> TransactionManager {
        .testing(correlatedHosts: ["api.example.com"]) { options in
            (options.recording, options.willRecord) = (recording, willRecord)
            (options.server.accepting, options.diagnostics) = (.only(Login.self), { _ in })
        }
    }

    /// The events of logins, in order.
    var reported: [TransactionRecord.Entry] {
        get throws { try transactions(Login.self).flatMap { $0.timeline.filter { $0.kind == .event } } }
    }
}

/// Header fields with HTTP's rules: a name may occur twice, and its case has no meaning.
struct Fields: Sendable {
    var values: [String: [String]] = [:]

    init(_ fields: [String: String] = [:]) { for (name, value) in fields { values[name.lowercased()] = [value] } }

    /// Returns the fields that the tracer adds to a client's request in the current span; `nil` outside any context.
    static func injected() -> Fields? {
        guard let context = ServiceContext.current else { return nil }
        var fields = Fields()
        InstrumentationSystem.instrument.inject(context, into: &fields, using: Handler())
        return fields
    }

    /// Handles a request as a server does.
    static func receive(
        _ fields: Fields, host: SpanAttributes = [:], _ handle: (any Tracing.Span) -> Void
    ) {
        var context = ServiceContext.current ?? .topLevel
        InstrumentationSystem.instrument.extract(fields, into: &context, using: Handler())
        withSpan("POST /items", context: context, ofKind: .server) { span in
            var attributes = host
            attributes.merge(["http.request.method": "POST", "url.path": "/items", "url.query": "page=2"])
            span.attributes = attributes
            handle(span)
        }
    }

    private struct Handler: Injector, Extractor {
        // Like async-http-client: adds values, and replaces none.
        func inject(_ value: String, forKey key: String, into carrier: inout Fields) {
            carrier.values[key.lowercased(), default: []].append(value)
        }

        func extract(key: String, from carrier: Fields) -> String? {
            carrier.values[key.lowercased()]?.joined(separator: ", ")
        }
    }
}
#endif
