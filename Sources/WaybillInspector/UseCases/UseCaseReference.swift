package import WaybillCore

/// A use case as addresses and pages name it.
package struct UseCaseReference: Sendable, Hashable {
    /// The code.
    package let code: Int
    /// Redacted; `use case 17` where no name is known, or an empty one.
    package let name: String
    /// What stands for it in an address: its name, or its code where the name would not lead to it.
    package let key: String

    /// Names a use case.
    ///
    /// - Parameters:
    ///   - code: Of the use case.
    ///   - names: What is called how in the store.
    package init(code: Int, among names: Redacted<[RecordedName]>) {
        let named = names.value.filter { $0.event == nil && $0.useCase == code && !$0.name.isEmpty }.min {
            $0.name < $1.name
        }
        self.code = code
        name = named?.name ?? "use case \(code)"
        // A browser takes dots for a way up, and a number is a code; a name that two use cases have means neither.
        let isAddress = named.map { named in
            Int(named.name) == nil && named.name != "." && named.name != ".." && named.isSearchable
                && names.value.allSatisfy { $0.event != nil || $0.useCase == code || $0.name != named.name }
        }
        key = isAddress == true ? name : "\(code)"
    }

    /// The use case that a part of an address means, a name or a code; nil where none is called so, or several are.
    package init?(key: String, among names: Redacted<[RecordedName]>) {
        let codes = Set(names.searchable.filter { $0.event == nil && $0.name == key }.map(\.useCase))
        guard let code = Int(key) ?? (codes.count == 1 ? codes.first : nil) else { return nil }
        self.init(code: code, among: names)
    }

    /// The searchable names of its events by code, each once; of very many, the first.
    package func events(among names: Redacted<[RecordedName]>) -> [String] {
        var seen: Set<String> = []
        let events = names.searchable.filter { $0.useCase == code && $0.event != nil }.map(\.name)
            .filter { seen.insert($0).inserted }
        return Array(events.prefix(FilterTerms.nameLimit))
    }
}
