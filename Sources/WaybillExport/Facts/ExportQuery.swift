import Foundation
import WaybillCore
package import WaybillReading

/// What `GET /v1/export` is asked for.
package struct ExportQuery: Sendable, Hashable {
    package var format = TextFormat.ndjson
    /// Received at or after this time; see ``TimeExpression``.
    package var since: String?
    /// The cursor of the export before.
    package var after: String?
    /// Only transactions that pass this ``FilterExpression``.
    package var filter: String?
    /// Only this transaction, by its ID.
    package var transaction: String?

    /// The header field of the answer that holds the cursor behind everything in it.
    package static let cursorField = "Waybill-Next-Cursor"

    package static let parameters = ["format", "since", "after", "filter", "transaction"]

    package init() {}

    /// Reads the parameters of a URL, decoded; where one is given twice, the last one counts.
    package init(_ items: [(name: String, value: String)]) throws(QueryFailure) {
        for item in items {
            switch item.name {
            case "format":
                guard let format = TextFormat(rawValue: item.value) else {
                    let formats = TextFormat.allCases.map(\.rawValue).joined(separator: ", ")
                    throw QueryFailure.parameter("format", "“\(item.value)” is no format. They are: \(formats).")
                }
                self.format = format
            case "since": since = item.value
            case "after": after = item.value
            case "filter": filter = item.value
            case "transaction": transaction = item.value
            default:
                throw .unknownParameter(item.name, among: Self.parameters)
            }
        }
    }

    /// The parameters, not percent-encoded.
    package var items: [(name: String, value: String)] {
        [("format", format.rawValue)]
            + [("since", since), ("after", after), ("filter", filter), ("transaction", transaction)]
            .compactMap { name, value in value.map { (name, $0) } }
    }

    /// The facts that are meant.
    ///
    /// - Parameter now: microseconds since 1970.
    package func facts(now: Int64) throws(QueryFailure) -> ExportedFacts {
        if let transaction {
            guard let id = GUID(transaction), since == nil, after == nil, filter == nil else {
                throw .parameter("transaction", "Give the whole ID of one transaction, and no other condition.")
            }
            return .transaction(id)
        }
        if let filter {
            guard since == nil, after == nil else {
                throw .parameter(
                    "filter",
                    "A filter goes with neither “since” nor “after”: what it left out would be left out for good. It has a since: of its own."
                )
            }
            return .of(ListRequest([.filter: filter]))
        }
        if let after {
            guard since == nil else {
                throw .parameter("since", "Give either “since” or “after”: a cursor goes on where an export ended.")
            }
            return .after(after)
        }
        guard let since else { return .after(ExportCursor().description) }
        guard let time = TimeExpression.microseconds(since, now: now) else {
            throw .parameter("since", "“\(since)” is no time: give \(TimeExpression.forms).")
        }
        return .since(Date(microseconds: time))
    }
}
