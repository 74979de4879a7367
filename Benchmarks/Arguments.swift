/// The error in the arguments, in one sentence.
struct UsageError: Error {
    var sentence: String
}

/// Returns all rows if there are no arguments, and the named rows, in the table's order, for `--rows log,drain`.
func chosenRows(_ arguments: some Collection<String>, among rows: [Row]) throws -> [Row] {
    guard !arguments.isEmpty else { return rows }
    // Rows that belong together share a name.
    let names = rows.map(\.name).reduce(into: [String]()) { names, name in
        if !names.contains(name) { names.append(name) }
    }
    let arguments = Array(arguments)
    guard arguments.count == 2, arguments[0] == "--rows" else {
        throw UsageError(
            sentence: "Usage: Benchmarks [--rows NAME,NAME...]; the names are \(names.joined(separator: ", ")).")
    }
    let asked = arguments[1].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    if let unknown = asked.first(where: { !names.contains($0) }) {
        throw UsageError(sentence: "There is no row \"\(unknown)\"; the names are \(names.joined(separator: ", ")).")
    }
    return rows.filter { asked.contains($0.name) }
}
