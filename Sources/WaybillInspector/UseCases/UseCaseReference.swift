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
    package init(code: Int, among names: [RecordedName]) {
        let redactor = Redactor()
        let all = names.filter { $0.event == nil && $0.useCase == code }.map(\.name)
        let known = all.filter { !$0.isEmpty }.min()
        self.code = code
        name = known.map(redactor.text) ?? "use case \(code)"
        // A browser takes dots for a way up, and a number is a code; a name that two use cases have means neither.
        let isAddress = known.map { name in
            Int(name) == nil && name != "." && name != ".." && redactor.text(name) == name
                && names.allSatisfy { $0.event != nil || $0.useCase == code || $0.name != name }
        }
        key = isAddress == true ? known ?? "\(code)" : "\(code)"
    }

    /// The use case that a part of an address means, a name or a code; nil where none is called so, or several are.
    package init?(key: String, among names: [RecordedName]) {
        let codes = Set(names.filter { $0.event == nil && $0.name == key }.map(\.useCase))
        guard let code = Int(key) ?? (codes.count == 1 ? codes.first : nil) else { return nil }
        self.init(code: code, among: names)
    }

    /// The names of its events by code, each once; those that redaction would change are left out.
    package func events(among names: [RecordedName]) -> [String] {
        let redactor = Redactor()
        var seen: Set<String> = []
        return names.filter { $0.useCase == code && $0.event != nil && !$0.name.isEmpty }.map(\.name)
            .filter { redactor.text($0) == $0 && seen.insert($0).inserted }
    }
}
