import WaybillAnalysis
import WaybillCore
import WaybillReading

/// Where the numbers on the pages of use cases lead: to the transactions that they count, under the same conditions.
struct UseCaseLinks {
    /// From the page to the pages' folder: `../`, as often as it is deep.
    let root: String
    let conditions: [(name: String, value: String)]

    /// - Parameters:
    ///   - address: Of the page; what only the page's question understands is left out.
    ///   - depth: How many components its path has.
    init(_ address: ListAddress, depth: Int) {
        root = String(repeating: "../", count: depth - 1)
        conditions = address.items.filter { Self.shared.contains($0.name) }
    }

    /// What lists of transactions understand, too.
    private static let shared = ["outcome", "since", "until", "text", "filter"]

    /// The list of transactions of a use case.
    ///
    /// - Parameters:
    ///   - changes: Conditions in place of those of the page.
    ///   - terms: Added to the page's filter.
    func transactions(
        of useCase: UseCaseReference, _ changes: [(name: String, value: String)] = [],
        _ terms: [FilterExpression.Term] = []
    ) -> String {
        var items = conditions.filter { condition in !changes.contains { $0.name == condition.name } } + changes
        if !terms.isEmpty {
            let written = items.last { $0.name == "filter" }?.value
            let expression = ([written].compactMap(\.self) + terms.map(\.description)).joined(separator: " ")
            items = items.filter { $0.name != "filter" } + [("filter", expression)]
        }
        return "\(root)transactions\(Self.query([("use_case", useCase.key)] + items))"
    }

    /// The page of a use case, or one of its files, under the same conditions.
    func useCase(_ useCase: UseCaseReference, _ file: String = "", _ others: [(name: String, value: String)] = [])
        -> String
    {
        "\(root)use-cases/\(ListAddress.encoded(useCase.key))\(file.isEmpty ? "" : "/")\(file)\(Self.query(conditions + others))"
    }

    static func query(_ items: [(name: String, value: String)]) -> String {
        items.isEmpty
            ? ""
            : "?"
                + items.map { "\(ListAddress.encoded($0.name))=\(ListAddress.encoded($0.value))" }.joined(
                    separator: "&")
    }
}

extension FilterExpression.Term {
    /// Those with an error of that domain and name; of that domain and code, where it has no name.
    static func error(_ error: UseCaseSummary.ErrorCount) -> FilterExpression.Term {
        let which = error.name ?? "\(error.code)"
        return FilterExpression.Term(.error, .equal, error.domain.isEmpty ? which : "\(error.domain) \(which)")
    }

    /// The same turned round.
    var negated: FilterExpression.Term {
        var term = self
        term.isNegated.toggle()
        return term
    }
}
