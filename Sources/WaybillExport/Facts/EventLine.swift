import WaybillCore
import WaybillStore

/// The row of an event that has nothing but its code: within a part, its numbers and its name are all that differs.
///
/// What stands around them is written once, by the format that writes all rows. What stands before them stays where it
/// is from one event to the next, and what stands behind is put there anew.
struct EventLine: Sendable {
    /// The row of the last event, and room for a longer one.
    private var row: [UInt8] = []
    /// What stands behind the columns up to the sequence: what is between the numbers, and behind the name the end of
    /// the row. In one array, since each array that is read costs as much as a number.
    private var text: [UInt8] = []
    private var ends: (time: Int, at: Int, code: Int) = (0, 0, 0)
    /// Where the sequence begins in ``row``.
    private var head = 0
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
        row.removeAll(keepingCapacity: true)
        row += head
        row += between.sequence
        self.head = row.count
        text.removeAll(keepingCapacity: true)
        text += between.time
        ends.time = text.count
        text += between.at
        ends.at = text.count
        text += between.code
        ends.code = text.count
        text += tail
    }

    /// The row of an event, until the next one is asked for.
    ///
    /// - Parameters:
    ///   - time: Microseconds since 1970.
    ///   - name: The column.
    mutating func row(of event: PlainEvent, time: Int64, name: [UInt8]) -> ArraySlice<UInt8> {
        let most = head + text.count + name.count + 4 * DecimalDigits.mostByteCount
        if row.count < most { row.append(contentsOf: repeatElement(0, count: most - row.count)) }
        var end = head
        // In place, with one look whether the row is ours alone and long enough: ten appends, each with its own, took
        // twice as long. All that is put there fits, by the sum above.
        row.withUnsafeMutableBufferPointer { row in
            text.withUnsafeBufferPointer { text in
                end = DecimalDigits.write(event.sequence, to: row, at: end)
                end = row.put(text[..<ends.time], at: end)
                end = DecimalDigits.write(time, to: row, at: end)
                end = row.put(text[ends.time..<ends.at], at: end)
                end = DecimalDigits.write(event.atMicroseconds, to: row, at: end)
                end = row.put(text[ends.at..<ends.code], at: end)
                end = DecimalDigits.write(Int64(event.code), to: row, at: end)
                end = name.withUnsafeBufferPointer { row.put($0[...], at: end) }
                end = row.put(text[ends.code...], at: end)
            }
        }
        return row[..<end]
    }
}

extension UnsafeMutableBufferPointer<UInt8> {
    /// Copies bytes for which there is room.
    ///
    /// - Returns: The place behind them.
    fileprivate func put(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, at start: Int) -> Int {
        let end = start + bytes.count
        _ = UnsafeMutableBufferPointer(rebasing: self[start..<end]).update(fromContentsOf: bytes)
        return end
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
