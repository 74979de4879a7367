#if Collector
import WaybillStore

/// Rows of values for a program: RFC 4180, with a header line.
struct CSVTable {
    enum Value {
        case text(String?)
        case integer(Int?)
    }

    var columns: [String]
    var rows: [[Value]] = []

    var bytes: [UInt8] {
        var csv = CSVFormat()
        for row in [columns.map { .text($0) }] + rows {
            csv.beginRow([])
            for value in row {
                switch value {
                case .text(let text): csv.text("", text)
                case .integer(let number): csv.integer("", number)
                }
            }
            csv.endRow()
        }
        return csv.bytes
    }
}
#endif
