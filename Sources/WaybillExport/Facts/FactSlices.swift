import WaybillCore
import WaybillQueries
import WaybillStore

/// Several threads each read a slice; rows keep the order of slices.
struct FactSlices<Rows: RowVisitor>: PieceReader {
    private var workers: [Worker]
    private var slices: ArraySlice<[ScannedShare]>
    private var inLine: ArraySlice<Int> = []

    var factCount: Int { workers.reduce(0) { $0 + $1.visitor.writer.count } }

    /// Filtered exports use only the first connection, which has the temporary table of selected transactions.
    init(
        _ selection: ExportSelection, redactor: Redactor, by connections: [Connection], ofParts partCount: Int64 = 250,
        limit byteCount: Int = 64 * TextExport.pieceByteCount
    ) throws(WaybillError) {
        let isAlone = selection.isFiltered || connections.count == 1
        slices = try isAlone ? [selection.shares] : selection.slices(ofParts: partCount, by: connections[0])[...]
        let limit = isAlone ? TextExport.pieceByteCount : byteCount
        workers = connections.prefix(isAlone ? 1 : slices.count).map { connection in
            Worker(
                connection: connection, isFiltered: selection.isFiltered,
                visitor: Rows(writer: ExportRowWriter(limit: limit, redactor: redactor, connection)))
        }
    }

    /// - Parameter meanwhile: Runs on another thread while the workers read.
    mutating func read(meanwhile: (() -> Void)? = nil) throws(WaybillError) -> [[UInt8]] {
        let interruption = workers.first?.connection.interruption
        for worker in workers { worker.connection.interruption = interruption }
        defer { for worker in workers.dropFirst() { worker.connection.interruption = nil } }
        var isDone = false
        defer { if !isDone { meanwhile?() } }
        var pieces: [[UInt8]] = []
        while pieces.isEmpty, !inLine.isEmpty || !slices.isEmpty {
            var reading = inLine.prefix(1)  // its slice is longer than a piece
            if reading.isEmpty {
                inLine = Array(workers.indices.prefix(slices.count))[...]
                for index in inLine { try workers[index].begin(slices.removeFirst()) }
                reading = inLine
            }
            let other = isDone ? nil : meanwhile
            let otherCount = other == nil ? 0 : 1
            isDone = true
            try workers.withUnsafeMutableBufferPointer { (workers) throws(WaybillError) in
                // Each worker is used by one thread only.
                nonisolated(unsafe) let workers = workers
                _ = try onThreads(otherCount + reading.count) { (number) throws(WaybillError) in
                    if number < otherCount {
                        other?()
                    } else {
                        try workers[reading[reading.startIndex + number - otherCount]].read()
                    }
                }
            }
            while let first = inLine.first {
                if let piece = workers[first].takePiece() { pieces.append(piece) }
                guard workers[first].isDone else { break }
                inLine.removeFirst()
            }
        }
        return pieces
    }

    private struct Worker {
        let connection: Connection
        let isFiltered: Bool
        var visitor: Rows
        private var scan: FactScan?
        private var piece: [UInt8] = []

        init(connection: Connection, isFiltered: Bool, visitor: Rows) {
            (self.connection, self.isFiltered, self.visitor) = (connection, isFiltered, visitor)
        }

        var isDone: Bool { scan == nil }

        mutating func begin(_ slice: [ScannedShare]) throws(WaybillError) {
            scan = try FactScan(slice, isFiltered: isFiltered, connection)
        }

        mutating func read() throws(WaybillError) {
            guard var scan else { return }
            visitor.writer.removeAll()
            let hasMore =
                try connection.isInTransaction
                ? scan.run(&visitor)
                : connection.transaction("BEGIN") { () throws(WaybillError) in try scan.run(&visitor) }
            piece = visitor.writer.rows.bytes
            self.scan = hasMore ? scan : nil
        }

        mutating func takePiece() -> [UInt8]? {
            defer { piece = [] }
            return piece.isEmpty ? nil : piece
        }
    }
}

extension ExportSelection {
    fileprivate func slices(ofParts partCount: Int64, by connection: Connection) throws(WaybillError)
        -> [[ScannedShare]]
    {
        let cut = try connection.statement(
            "SELECT sequence FROM parts WHERE source = ? AND sequence >= ? ORDER BY sequence LIMIT 1 OFFSET ?")
        let count = try connection.statement("SELECT count(*) FROM parts WHERE source = ? AND sequence >= ?")
        var slices: [[ScannedShare]] = []
        var slice: [ScannedShare] = []
        var room = partCount
        for var share in shares {
            // Don't cut increments: they contain few parts, and counting them would scan all parts.
            let isWhole = share.window.lowerBound <= 1
            func next() throws(WaybillError) -> Int64? {
                try cut.first(share.row, share.parts.lowerBound, room) { row in row.int(0) }
            }
            while isWhole, let next = try next() {
                var before = share
                before.parts = share.parts.lowerBound...(next - 1)
                slices.append(slice + [before])
                (slice, room) = ([], partCount)
                share.parts = next...Int64.max
            }
            slice.append(share)
            if isWhole { room -= try count.first(share.row, share.parts.lowerBound) { row in row.int(0) } ?? 0 }
            if room <= 0 {
                slices.append(slice)
                (slice, room) = ([], partCount)
            }
        }
        return slice.isEmpty ? slices : slices + [slice]
    }
}
