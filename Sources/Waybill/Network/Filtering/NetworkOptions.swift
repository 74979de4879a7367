import WaybillCore

/// Which exchanges are recorded, and what of them: `TransactionManager.Options.network`.
///
/// It holds for every way of capturing requests that are sent. What it leaves out is sent all the same, and carries the
/// transaction's header field, without the exchange's number in it. Of the requests that a server joins transactions
/// by, only ``headers`` decides.
///
/// ## Usage
///
/// ```swift
/// var options = TransactionManager.Options()
/// options.network.exclude = [RequestPattern(path: "/health"), RequestPattern(host: .glob("*.tracker.example"))]
/// options.network.headers = HeaderPolicy(["User-Agent": .skip, "X-Device-Name": .mask])
/// ```
public struct NetworkOptions: Sendable {
    /// Whether exchanges are recorded at all. Default: they are.
    public var isEnabled = true
    /// Only requests that match one of these are recorded; empty: all.
    ///
    /// These patterns see method, URL, host, path and header fields, never a body: one with a condition for it matches
    /// nothing, and shows in the manager's health.
    public var include: [RequestPattern] = []
    /// Requests that match one of these are not recorded, also where ``include`` has them.
    public var exclude: [RequestPattern] = []
    /// Asked last, about each request that the patterns leave; nil: all of them are recorded.
    ///
    /// It runs on the caller's thread before the request is sent, so it must be quick, and it sees what is not
    /// redacted. It is not asked about requests that it makes itself: those are recorded.
    public var shouldLog: (@Sendable (ExchangeRequest) -> Bool)?
    /// Which header fields are kept, of requests and responses.
    public var headers = HeaderPolicy()
    /// Of which exchanges the bodies are kept, redacted; nil, the default: of none.
    public var bodies: BodyPolicy?

    /// The defaults: every exchange, every header field, redacted.
    public init() {}

    /// Whether an exchange is to be recorded.
    func logs(_ request: ExchangeRequest) -> Bool {
        guard isEnabled, include.isEmpty || include.contains(where: { $0.matches(request) }) else { return false }
        return !exclude.contains { $0.matches(request) } && isWanted(request)
    }

    private func isWanted(_ request: ExchangeRequest) -> Bool {
        guard let shouldLog, !Self.isAsking else { return true }
        return Self.$isAsking.withValue(true) { shouldLog(request) }
    }

    /// Whether ``shouldLog`` is being asked here.
    @TaskLocal private static var isAsking = false

    /// What in it cannot work.
    var problems: [WaybillError] {
        (bodies?.problems ?? [])
            + (include + exclude).flatMap { pattern in
                let blind =
                    pattern.body == nil
                    ? []
                    : [
                        WaybillError(
                            .setting,
                            "A pattern that says which exchanges are recorded has a condition for the body; it matches nothing."
                        )
                    ]
                return pattern.problems + blind
            }
    }
}

/// Which header fields are kept, of requests and of responses.
///
/// It only takes away: what redaction hides (`Authorization`, `Cookie`, all that has a secret's name or shape) stays
/// hidden where the policy says ``Treatment/keep``.
public struct HeaderPolicy: Sendable, Hashable {
    /// What is done with a header field.
    public enum Treatment: Sendable, Hashable {
        /// It is recorded, redacted.
        case keep
        /// Nothing of it is recorded.
        case skip
        /// Its name is recorded, and that there was a value.
        case mask
    }

    /// What is done with the fields that have no treatment of their own. Default: they are kept.
    public var others: Treatment
    private let treatments: [String: Treatment]

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - treatments: By name, in any case; of two that differ in case only, the stricter one: skip, then mask.
    ///   - others: What is done with all other fields.
    public init(_ treatments: [String: Treatment] = [:], others: Treatment = .keep) {
        self.others = others
        self.treatments = Dictionary(treatments.map { ($0.key.lowercased(), $0.value) }) { one, other in
            if one == .skip || other == .skip { .skip } else if one == .mask || other == .mask { .mask } else { .keep }
        }
    }

    /// What is done with a field of this name, in any case.
    public func treatment(of name: String) -> Treatment {
        treatments.isEmpty ? others : treatments[name.lowercased()] ?? others
    }

    /// What is left of header fields, in their order, to be redacted.
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
