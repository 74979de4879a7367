#if Collector
package import WaybillCore

/// Why a question has no answer, or not one.
package enum QueryFailure: Error, Hashable, CustomStringConvertible {
    /// A parameter of ``TransactionQuery`` that cannot be read: its name in a URL, and a sentence.
    case parameter(String, String)
    /// What was asked for is no ID, no support code, or not there.
    case notFound(String)
    /// Several transactions share the support code.
    case ambiguous(SupportCode, [GUID])

    package var description: String {
        switch self {
        case .parameter(_, let message), .notFound(let message): message
        case .ambiguous(let code, let transactions):
            "\(transactions.count) transactions share the support code \(code); ask for one by its ID: "
                + transactions.map(\.description).joined(separator: ", ") + "."
        }
    }
}
#endif
