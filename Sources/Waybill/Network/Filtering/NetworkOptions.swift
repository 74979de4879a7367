import WaybillCore

/// Which exchanges are recorded, and which of their data; see ``TransactionManager/Options/network``.
///
/// It applies to all outgoing requests. Requests that it excludes are still sent, with the transaction's header field
/// but without the exchange's number. For incoming requests, only ``headers`` applies.
///
/// ## Usage
///
/// ```swift
/// let transactions = TransactionManager { options in
///     options.network.exclude = [RequestPattern(path: "/health"), RequestPattern(host: .glob("*.tracker.example"))]
///     options.network.headers = HeaderPolicy(["User-Agent": .skip, "X-Device-Name": .mask])
/// }
/// ```
public struct NetworkOptions: Sendable {
    /// Whether exchanges are recorded at all. Default: true.
    public var isEnabled = true
    /// Patterns of the requests to record; empty for all. A pattern with a condition for the body matches nothing.
    public var include: [RequestPattern] = []
    /// Patterns of the requests not to record. They override ``include``.
    public var exclude: [RequestPattern] = []
    /// A closure that decides about each request that the patterns accept; `nil` records all of them.
    ///
    /// It runs on the caller's thread before the request is sent, so it must be fast. The request is not redacted.
    public var shouldLog: (@Sendable (ExchangeRequest) -> Bool)?
    /// Which header fields of requests and responses are recorded.
    public var headers = HeaderPolicy()
    /// Which bodies are stored, redacted; `nil`, the default, stores none.
    public var bodies: BodyPolicy?

    /// Creates the default options: every exchange and header field, redacted.
    public init() {}

    func logs(_ request: ExchangeRequest) -> Bool {
        guard isEnabled, include.isEmpty || include.contains(where: { $0.matches(request) }) else { return false }
        return !exclude.contains { $0.matches(request) } && isWanted(request)
    }

    private func isWanted(_ request: ExchangeRequest) -> Bool {
        guard let shouldLog, !Self.isAsking else { return true }
        return Self.$isAsking.withValue(true) { shouldLog(request) }
    }

    @TaskLocal private static var isAsking = false

    var problems: [WaybillError] {
        var problems = bodies?.problems ?? []
        for pattern in include + exclude {
            problems += pattern.problems
            guard pattern.body != nil else { continue }
            problems.add(
                "A pattern that says which exchanges are recorded has a condition for the body; it matches nothing.")
        }
        return problems
    }
}

/// Which header fields of requests and responses are recorded. Redacted fields stay redacted with ``Treatment/keep``.
public struct HeaderPolicy: Sendable, Equatable {
    /// The treatment of a header field.
    public enum Treatment: Sendable, Hashable {
        /// Record the field, redacted.
        case keep
        /// Don't record the field.
        case skip
        /// Record the name and that it has a value.
        case mask
    }

    /// The treatment of all other fields. Default: ``Treatment/keep``.
    public var others: Treatment
    private let treatments: [String: Treatment]

    /// Creates a policy with treatments by name. If names differ only in case, the stricter treatment applies.
    public init(_ treatments: [String: Treatment] = [:], others: Treatment = .keep) {
        self.others = others
        self.treatments = Dictionary(treatments.map { ($0.key.lowercased(), $0.value) }) { one, other in
            if one == .skip || other == .skip { .skip } else if one == .mask || other == .mask { .mask } else { .keep }
        }
    }

    /// Returns the treatment of a field by its name, in any case.
    public func treatment(of name: String) -> Treatment {
        treatments.isEmpty ? others : treatments[name.lowercased()] ?? others
    }

    func applied(to fields: [HeaderField]) -> [HeaderField] {
        guard !treatments.isEmpty || others != .keep else { return fields }
        return fields.compactMap { field in
            switch treatment(of: field.name) {
            case .keep: field
            case .skip: nil
            case .mask: HeaderField(name: field.name, value: Redactor.placeholder)
            }
        }
    }
}
