import WaybillCore
import WaybillStore

/// The row of an event that has nothing but its code: within a part, its numbers and its name are all that differs.
///
/// What stands around them is written once, by the format that writes all rows, and copied for each event.
struct EventLine: Sendable {
    /// What stands before the numbers: the columns up to the sequence, those between, and behind the name the end of
    /// the row. In one array, since each array that is read costs as much as a number.
    private var text: [UInt8] = []
    private var ends: (head: Int, time: Int, at: Int, code: Int) = (0, 0, 0, 0)
    /// ``text`` without what a part decides.
    private let between: (sequence: [UInt8], time: [UInt8], at: [UInt8], code: [UInt8])

    init<Format: RowFormat>(as format: Format.Type) {
        // A number of one digit stands for all of them, and is left out.
        let digit: Int64 = 0
        let sequence = format.columns { $0.integer("sequence", digit) }
        let time = format.columns {
            $0.text("kind", "event")
            $0.integer("time_us", digit)
        }
        let at = format.columns { $0.integer("at_us", digit) }
        let code = format.columns { $0.integer("code", digit) }
        between = (sequence.dropLast(), time.dropLast(), at.dropLast(), code.dropLast())
    }

    /// Begins a part.
    ///
    /// - Parameters:
    ///   - head: The row up to `is_joined`.
    ///   - tail: The row from `outcome` to its end.
    mutating func begin(head: [UInt8], tail: [UInt8]) {
        text.removeAll(keepingCapacity: true)
        text += head
        text += between.sequence
        ends.head = text.count
        text += between.time
        ends.time = text.count
        text += between.at
        ends.at = text.count
        text += between.code
        ends.code = text.count
        text += tail
    }

    /// Adds the row of an event.
    ///
    /// - Parameters:
    ///   - time: Microseconds since 1970.
    ///   - name: The column.
    func append(_ event: PlainEvent, time: Int64, name: [UInt8], to bytes: inout [UInt8]) {
        text.withUnsafeBufferPointer { text in
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[..<ends.head]))
            bytes.append(decimal: event.sequence)
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[ends.head..<ends.time]))
            bytes.append(decimal: time)
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[ends.time..<ends.at]))
            bytes.append(decimal: event.atMicroseconds)
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[ends.at..<ends.code]))
            bytes.append(decimal: Int64(event.code))
            bytes += name
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[ends.code...]))
        }
    }
}

extension RowFormat {
    /// Columns as they stand behind others.
    static func columns(_ write: (inout Self) -> Void) -> [UInt8] {
        var row = Self()
        row.bool("is_joined", true)
        let count = row.bytes.count
        write(&row)
        return Array(row.bytes[count...])
    }
}
