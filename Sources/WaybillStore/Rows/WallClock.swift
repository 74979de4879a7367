package import WaybillCore

/// A source's clock anchors: turns times in the source into microseconds since 1970.
package struct WallClock {
    /// In order of time.
    package private(set) var anchors: [ClockAnchor]

    package init(_ anchors: [ClockAnchor]) { self.anchors = anchors.sorted { $0.atMicroseconds < $1.atMicroseconds } }

    /// By the latest anchor before, else by the first; a source without any starts in 1970.
    package func wall(_ atMicroseconds: Int64) -> Int64 { atMicroseconds.adding(offset(at: atMicroseconds)) }

    /// What ``wall(_:)`` adds to a time.
    package func offset(at atMicroseconds: Int64) -> Int64 {
        (anchors.last { $0.atMicroseconds <= atMicroseconds } ?? anchors.first)?.offsetMicroseconds ?? 0
    }
}

extension WallClock {
    /// The first anchor, the last, and those that date these times.
    func anchors(dating times: [Int64]) -> [ClockAnchor] {
        guard let last = anchors.indices.last else { return [] }
        var dating: Set<Int> = [0, last]
        var index = 0
        for time in times.sorted() {
            while index < last, anchors[index + 1].atMicroseconds <= time { index += 1 }
            dating.insert(index)
        }
        return dating.sorted().map { anchors[$0] }
    }

    /// Reads those of a source.
    package init(of source: Int64, _ connection: Connection) throws(WaybillError) {
        let statement = try connection.statement("SELECT at_us, offset_us FROM clocks WHERE source = ? ORDER BY at_us")
        anchors = try statement.rows(source) { row in
            ClockAnchor(atMicroseconds: row.int(0), offsetMicroseconds: row.int(1))
        }
    }
}
