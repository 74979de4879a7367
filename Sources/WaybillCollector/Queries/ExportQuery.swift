#if Collector
import WaybillCore
package import WaybillExport
import WaybillReading
import WaybillStore

/// What `GET /v1/export` is asked for.
package struct ExportQuery: Sendable, Hashable {
    package var format = TextFormat.ndjson
    /// Received at or after this time; see ``TimeExpression``.
    package var since: String?
    /// The cursor of the export before.
    package var after: String?
    /// Only transactions that pass this ``FilterExpression``.
    package var filter: String?

    /// The header field of the answer that holds the cursor behind everything in it.
    package static let cursorField = "Waybill-Next-Cursor"

    package static let parameters = ["format", "since", "after", "filter"]

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
            default:
                throw .unknownParameter(item.name, among: Self.parameters)
            }
        }
    }

    /// The parameters, not percent-encoded.
    package var items: [(name: String, value: String)] {
        [("format", format.rawValue)]
            + [("since", since), ("after", after), ("filter", filter)].compactMap { name, value in value.map { (name, $0) } }
    }

    /// The facts that are meant.
    ///
    /// - Parameters:
    ///   - queries: Look up the names in a filter.
    ///   - now: microseconds since 1970.
    func scope(_ queries: StoreQueries, now: Int) async throws -> ExportScope {
        guard let filter else { return try scope(now: now) }
        guard since == nil, after == nil else {
            throw QueryFailure.parameter(
                "filter",
                "A filter goes with neither “since” nor “after”: what it left out would be left out for good. It has a since: of its own.")
        }
        var query = TransactionQuery()
        query.filter = filter
        return try await queries.exportScope(query)
    }

    private func scope(now: Int) throws(QueryFailure) -> ExportScope {
        if let after {
            guard since == nil else {
                throw QueryFailure.parameter("since", "Give either “since” or “after”: a cursor goes on where an export ended.")
            }
            do throws(WaybillError) { return .after(try ExportCursor(after)) } catch {
                throw QueryFailure.parameter("after", error.message)
            }
        }
        guard let since else { return .after(ExportCursor()) }
        guard let time = TimeExpression.microseconds(since, now: now) else {
            throw QueryFailure.parameter("since", "“\(since)” is no time: give \(TimeExpression.forms).")
        }
        return .since(time)
    }
}
#endif
