import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

extension Store {
    /// Returns all rows as text, in a fixed order. The sources' UUIDs replace the numbers, which depend on the order of
    /// arrival.
    func dump() throws -> [String] {
        var lines: [String] = []
        let tables = [
            "sources", "clocks", "names", "parts", "events", "exchanges", "ranges", "leases", "dropped",
            "quarantine", "erased",
        ]
        for table in tables {
            let columns = try connection.statement("SELECT name FROM pragma_table_info(?)").rows(table) { row in
                row.text(0)
            }
            let expressions = columns.filter { !(table == "sources" && ($0 == "id" || $0 == "heard_us")) }.map {
                column in
                column == "source"
                    ? "'\(column)=' || (SELECT hex(uuid) FROM sources WHERE id = source)"
                    : "'\(column)=' || quote(\(column))"
            }
            lines += try connection.statement(
                "SELECT '\(table) ' || \(expressions.joined(separator: " || ' ' || ")) FROM \(table)"
            )
            .rows { row in row.text(0) }.sorted()
        }
        return lines
    }

    /// Returns every fact of a source, read back from its rows and ordered by sequence.
    func facts(of source: GUID) throws -> [Fact] {
        guard let row = try connection.sourceRow(source) else { return [] }
        let parts = try connection.statement("SELECT sequence FROM parts WHERE source = ?").rows(row.id) { row in
            row.int(0)
        }
        var facts: [Fact] = []
        for part in parts { facts += try PartFacts.all(of: part, in: row.id, connection) }
        return facts.sorted { $0.sequence < $1.sequence }
    }

    /// Returns a collector's store in memory.
    static func inMemory() throws -> (Store, ResolvedLocation) {
        let place = ResolvedLocation.memory(name: GUID().description)
        return (try Store(place), place)
    }
}
