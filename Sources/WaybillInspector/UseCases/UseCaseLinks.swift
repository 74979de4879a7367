package import WaybillCore
import WaybillExport
import WaybillQueries

struct UseCaseLinks {
    let root: String
    let parameters: [(name: String, value: String)]

    func transactions(
        of useCase: UseCaseReference, _ changes: [(name: String, value: String)] = [],
        _ conditions: [FilterCondition] = []
    ) -> String {
        transactions([("use_case", useCase.key)], changes, conditions: conditions)
    }

    func transactions(
        _ first: [(name: String, value: String)], _ changes: [(name: String, value: String)] = [],
        conditions: [FilterCondition]
    ) -> String {
        var items = parameters.filter { parameter in !changes.contains { $0.name == parameter.name } } + changes
        if !conditions.isEmpty {
            let written = items.last { $0.name == "filter" }?.value
            let expression = ([written].compactMap(\.self) + conditions.map(\.description)).joined(separator: " ")
            items = items.filter { $0.name != "filter" } + [("filter", expression)]
        }
        return "\(root)transactions\(ListAddress(first + items).query)"
    }

    func transactions(of useCase: UseCaseReference, _ listing: AnswerTable.Listing) -> String {
        transactions(of: useCase, listing.parameters, listing.conditions)
    }

    func useCase(_ useCase: UseCaseReference, _ file: String = "", _ others: [(name: String, value: String)] = [])
        -> String
    {
        "\(root)use-cases/\(PercentEncoding.encoded(useCase.key))\(file.isEmpty ? "" : "/")\(file)\(ListAddress(parameters + others).query)"
    }
}

extension InspectorFrame {
    func links(keeping names: [String] = []) -> UseCaseLinks {
        let kept = ["outcome", "since", "until", "text", "filter"] + names
        return UseCaseLinks(root: root, parameters: address.items.filter { kept.contains($0.name) })
    }
}

package struct UseCaseReference: Sendable, Hashable {
    package let code: Int
    /// The redacted name; `use case 17` if the name is unknown or empty.
    package let name: String
    /// The name, or the code if the name isn't unique or isn't valid in addresses.
    package let key: String

    package init(code: Int, among names: Redacted<[RecordedName]>) {
        let named = names.value.filter { $0.event == nil && $0.useCase == code && !$0.name.isEmpty }.min {
            $0.name < $1.name
        }
        self.code = code
        name = named?.name ?? "use case \(code)"
        // Browsers treat dots as folders, and numbers are codes.
        let isAddress = named.map { named in
            Int(named.name) == nil && named.name != "." && named.name != ".." && named.isSearchable
                && names.value.allSatisfy { $0.event != nil || $0.useCase == code || $0.name != named.name }
        }
        key = isAddress == true ? name : "\(code)"
    }

    /// Returns `nil` unless exactly one use case has the name.
    package init?(key: String, among names: Redacted<[RecordedName]>) {
        let codes = Set(names.searchable.filter { $0.event == nil && $0.name == key }.map(\.useCase))
        guard let code = Int(key) ?? (codes.count == 1 ? codes.first : nil) else { return nil }
        self.init(code: code, among: names)
    }

    package func events(among names: Redacted<[RecordedName]>) -> [String] {
        var seen: Set<String> = []
        let events = names.searchable.filter { $0.useCase == code && $0.event != nil }.map(\.name)
            .filter { seen.insert($0).inserted }
        return Array(events.prefix(FilterTerms.nameLimit))
    }
}
