#if Collector
import WaybillCore

/// What the sources of one transaction are called in its timeline: the app's name, numbered where two share it.
struct SourceNames {
    /// The sources, beginner first.
    let sources: [TransactionRecord.Source]
    private let names: [GUID: String]

    init(_ sources: [TransactionRecord.Source]) {
        self.sources = sources
        let apps = sources.map { $0.app.isEmpty ? "source" : $0.app }
        var names: [GUID: String] = [:]
        for (index, source) in sources.enumerated() {
            let twins = apps.indices.filter { apps[$0] == apps[index] }
            names[source.id] = twins.count == 1 ? apps[index] : "\(apps[index]) #\(1 + twins.prefix { $0 < index }.count)"
        }
        self.names = names
    }

    subscript(source: GUID) -> Cell { Cell(names[source] ?? "?", Self.inks[lane(of: source) % Self.inks.count]) }

    /// The place of a source among them, from 0.
    func lane(of source: GUID) -> Int { sources.firstIndex { $0.id == source } ?? 0 }

    private static let inks: [Ink] = [.cyan, .magenta, .blue, .yellow]
}
#endif
