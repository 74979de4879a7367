import WaybillCore
import WaybillReading

/// Why a request gets no page: said in its place.
package struct InspectorProblem: Error, Hashable {
    /// Of HTTP.
    package var status: Int
    /// The phrase of the status.
    package var title: String
    /// One sentence for a person.
    package var detail: String

    package init(_ status: Int, _ title: String, _ detail: String) {
        (self.status, self.title, self.detail) = (status, title, detail)
    }

    init(_ failure: Redacted<QueryFailure>) {
        let failure = failure.value
        switch failure {
        case .parameter, .filter, .question: self.init(400, "Bad Request", failure.description)
        case .notFound: self = .notFound(failure.description)
        case .ambiguous, .ambiguousExchange: self.init(409, "Conflict", failure.description)
        }
    }

    static func notFound(_ detail: String) -> InspectorProblem { InspectorProblem(404, "Not Found", detail) }

    static func forbidden(_ detail: String) -> InspectorProblem { InspectorProblem(403, "Forbidden", detail) }

    /// Its words are ours, and name no path.
    static func deadline(_ error: WaybillError) -> InspectorProblem {
        InspectorProblem(422, "Unprocessable Content", error.message)
    }

    /// The store's own words stay in the log: they may name paths.
    static let unavailable = InspectorProblem(
        503, "Service Unavailable", "The store cannot be read or written at the moment. Nothing was kept; try again.")
}
