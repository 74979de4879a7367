public import WaybillCore

/// Why a question has no answer, or not one.
public enum QueryFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// A parameter of a ``ListRequest``, or of another question, that cannot be read: its name in a URL, and a
    /// sentence.
    case parameter(String, String)
    /// The parameter `filter` cannot be read: what is wrong, and where.
    case filter(FilterMistake)
    /// A question about many transactions that cannot be answered as it is asked: a name that nothing has, a use case
    /// that is not told.
    case question(String)
    /// What was asked for is no ID, no support code, or not there.
    case notFound(String)
    /// Several transactions share the support code; at most 21 of them, of which the description names 20.
    case ambiguous(SupportCode, [GUID])
    /// Several exchanges have what was asked for.
    case ambiguousExchange(String, [Fact.ID])

    /// How many transactions that share a support code are named.
    package static let namedTransactions = 20

    /// A parameter that there is not.
    package static func unknownParameter(_ name: String, among names: [String]) -> QueryFailure {
        .parameter(name, "There is no parameter “\(name)”. They are: \(names.joined(separator: ", ")).")
    }

    /// One sentence for a person.
    public var description: String {
        switch self {
        case .parameter(_, let message), .question(let message), .notFound(let message): message
        case .filter(let mistake): mistake.message
        case .ambiguous(let code, let transactions):
            "\(transactions.count > Self.namedTransactions ? "More than \(Self.namedTransactions)" : "\(transactions.count)") transactions share the support code \(code); ask for one by its ID: "
                + transactions.prefix(Self.namedTransactions).map(\.description).joined(separator: ", ") + "."
        case .ambiguousExchange(let key, let ids):
            "\(ids.count) exchanges are called \(key); ask for one by its ID: \(ids.map(\.description).joined(separator: ", "))."
        }
    }
}

/// Sentences tell names that were recorded, besides what somebody typed.
extension QueryFailure: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        switch self {
        case .parameter(let name, let message): .parameter(name, redactor.text(message))
        case .filter(let mistake): .filter(mistake.redacted(by: redactor))
        case .question(let message): .question(redactor.text(message))
        case .notFound(let message): .notFound(redactor.text(message))
        case .ambiguous, .ambiguousExchange: self
        }
    }
}
