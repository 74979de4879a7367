package import WaybillCore
package import WaybillReading

/// What the sources of one transaction are called: the app's name, numbered where two share it.
package struct SourceNames: Sendable {
    /// The sources, beginner first.
    package let sources: [TransactionRecord.Source]
    private let names: [GUID: String]

    /// Names the sources of a record.
    package init(_ sources: [TransactionRecord.Source]) {
        self.sources = sources
        let apps = sources.map { $0.app.isEmpty ? "source" : $0.app }
        var names: [GUID: String] = [:]
        for (index, source) in sources.enumerated() {
            let twins = apps.indices.filter { apps[$0] == apps[index] }
            names[source.id] =
                twins.count == 1 ? apps[index] : "\(apps[index]) #\(1 + twins.prefix { $0 < index }.count)"
        }
        self.names = names
    }

    /// The name of a source; `?` for one that took no part.
    package subscript(source: GUID) -> String { names[source] ?? "?" }

    /// The place of a source among them, from 0.
    package func lane(of source: GUID) -> Int { sources.firstIndex { $0.id == source } ?? 0 }

    /// The class that colours what a source did, as an attribute; the beginner's is the colour of what has none.
    func laneAttribute(of source: GUID) -> HTML {
        let lane = min(lane(of: source), 3)
        return "\(" class=l\(lane)", if: lane > 0)"
    }

    /// The name of an exchange in addresses within the page of its transaction.
    package func anchor(of exchange: Fact.ID) -> String { "x\(lane(of: exchange.source))-\(exchange.sequence)" }
}
