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
    case ambiguousExchange(String, [FactID])

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

/// What is to be erased, as it is written in a URL's query: an installation, or transactions by `id`, which may be
/// given several times.
package struct ErasureQuery: Sendable, Hashable {
    /// Which parts of a query there are.
    package enum Parameter: String, CaseIterable, Sendable { case installation, id }

    package let installation: GUID?
    /// IDs or support codes.
    package let ids: [String]

    /// The parameters that are set, not percent-encoded.
    package var items: [(name: String, value: String)] {
        installation.map { [(Parameter.installation.rawValue, "\($0)")] } ?? ids.map { (Parameter.id.rawValue, $0) }
    }

    /// Reads the parameters of a URL, decoded.
    ///
    /// - Throws: for anything but one installation or some IDs: an erasure must not be larger or smaller than what was
    ///   meant.
    package init(_ items: [(name: String, value: String)]) throws(QueryFailure) {
        for item in items where Parameter(rawValue: item.name) == nil {
            throw QueryFailure.parameter(
                item.name, "There is no parameter “\(item.name)”. Give one installation, or id once or more.")
        }
        let installations = items.filter { $0.name == Parameter.installation.rawValue }.map(\.value)
        ids = items.filter { $0.name == Parameter.id.rawValue }.map(\.value)
        guard installations.count + min(1, ids.count) == 1 else {
            throw QueryFailure.parameter(
                Parameter.installation.rawValue,
                "Say what to erase: one installation, or transactions by id, and not both.")
        }
        guard let text = installations.first else {
            installation = nil
            return
        }
        guard let installation = GUID(text) else {
            throw QueryFailure.parameter(
                Parameter.installation.rawValue, "“\(text)” is no ID of an installation: it has 36 characters.")
        }
        self.installation = installation
    }
}
