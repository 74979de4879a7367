package import WaybillCore
import WaybillExport
import WaybillQueries

/// The links of numbers on the pages of use cases. They lead to the transactions that a number counts, under the page's
/// conditions.
struct UseCaseLinks {
    /// The path from the page to the folder of all pages, e.g. `../`.
    let root: String
    let conditions: [(name: String, value: String)]

    /// - Parameters:
    ///   - address: The address of the page. Parameters of the page's question are left out.
    ///   - depth: The number of components in the path.
    init(_ address: ListAddress, depth: Int) {
        root = String(repeating: "../", count: depth - 1)
        conditions = address.items.filter { Self.shared.contains($0.name) }
    }

    /// The parameters that lists of transactions have, too.
    private static let shared = ["outcome", "since", "until", "text", "filter"]

    /// The list of transactions of a use case.
    ///
    /// - Parameters:
    ///   - changes: Conditions that replace those of the page.
    ///   - terms: Terms to add to the page's filter.
    func transactions(
        of useCase: UseCaseReference, _ changes: [(name: String, value: String)] = [],
        _ terms: [FilterCondition] = []
    ) -> String {
        var items = conditions.filter { condition in !changes.contains { $0.name == condition.name } } + changes
        if !terms.isEmpty {
            let written = items.last { $0.name == "filter" }?.value
            let expression = ([written].compactMap(\.self) + terms.map(\.description)).joined(separator: " ")
            items = items.filter { $0.name != "filter" } + [("filter", expression)]
        }
        return "\(root)transactions\(Self.query([("use_case", useCase.key)] + items))"
    }

    /// The list of transactions that a cell of an answer counts.
    func transactions(of useCase: UseCaseReference, _ listing: AnswerTable.Listing) -> String {
        transactions(of: useCase, listing.conditions, listing.terms)
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

/// A use case in addresses and on pages.
package struct UseCaseReference: Sendable, Hashable {
    /// The code.
    package let code: Int
    /// The redacted name; `use case 17` if the name is unknown or empty.
    package let name: String
    /// The use case in an address: its name, or its code if the name isn't unique or can't be part of an address.
    package let key: String

    /// Finds the name of a use case.
    ///
    /// - Parameters:
    ///   - code: The code of the use case.
    ///   - names: The names in the store.
    package init(code: Int, among names: Redacted<[RecordedName]>) {
        let named = names.value.filter { $0.event == nil && $0.useCase == code && !$0.name.isEmpty }.min {
            $0.name < $1.name
        }
        self.code = code
        name = named?.name ?? "use case \(code)"
        // Browsers resolve dots as parent folders, numbers are codes, and a name that two use cases share is ambiguous.
        let isAddress = named.map { named in
            Int(named.name) == nil && named.name != "." && named.name != ".." && named.isSearchable
                && names.value.allSatisfy { $0.event != nil || $0.useCase == code || $0.name != named.name }
        }
        key = isAddress == true ? name : "\(code)"
    }

    /// Finds the use case of a name or code in an address; `nil` if none or several have the name.
    package init?(key: String, among names: Redacted<[RecordedName]>) {
        let codes = Set(names.searchable.filter { $0.event == nil && $0.name == key }.map(\.useCase))
        guard let code = Int(key) ?? (codes.count == 1 ? codes.first : nil) else { return nil }
        self.init(code: code, among: names)
    }

    /// The distinct searchable names of the use case's events, in the order of codes, up to a limit.
    package func events(among names: Redacted<[RecordedName]>) -> [String] {
        var seen: Set<String> = []
        let events = names.searchable.filter { $0.useCase == code && $0.event != nil }.map(\.name)
            .filter { seen.insert($0).inserted }
        return Array(events.prefix(FilterTerms.nameLimit))
    }
}
