public import WaybillCore

/// The reason why a question has no answer, or no single one.
public enum QueryFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// An invalid parameter of a list or another question: its name in a URL, and a message.
    case parameter(String, String)
    /// An invalid parameter `filter`: the mistake and its position.
    case filter(FilterMistake)
    /// A question about many transactions that can't be answered, for example because of an unknown name.
    case question(String)
    /// An unknown or malformed ID or support code.
    case notFound(String)
    /// Several transactions with the same support code: at most 21. The description lists 20.
    case ambiguous(SupportCode, [GUID])
    /// Several exchanges with the same code, by their IDs.
    case ambiguousExchange(String, [FactID])

    package static let namedTransactions = 20

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

extension QueryFailure: Redactable {
    package mutating func redact(by redactor: Redactor) {
        switch self {
        case .parameter(let name, let message): self = .parameter(name, redactor.text(message))
        case .filter(let mistake): self = .filter(mistake.redacted(by: redactor))
        case .question(let message): self = .question(redactor.text(message))
        case .notFound(let message): self = .notFound(redactor.text(message))
        case .ambiguous, .ambiguousExchange: break
        }
    }
}

extension QueryFailure {
    package static func ofCursor<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as WaybillError where error.code == .format {
            throw QueryFailure.parameter("cursor", error.message)
        }
    }

    package static func ofQuestion<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as WaybillError where [.notFound, .setting].contains(error.code) {
            throw QueryFailure.question(error.message)
        }
    }
}

package struct ErasureQuery: Sendable, Hashable {
    package enum Parameter: String, CaseIterable, Sendable { case installation, id }

    package let installation: GUID?
    /// IDs or support codes.
    package let ids: [String]

    /// Rejects anything but one installation or some IDs, to erase no more and no less than intended.
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
