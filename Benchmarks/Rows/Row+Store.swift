import Foundation
import WaybillCore
import WaybillStore

extension Row {
    /// Facts into the store: transactions of 20 events, 50 at a time, in batches of 5,000.
    static let store = Row("store", unit: "ns/fact", against: "bare prepared inserts") {
        let folder = FileManager.default.temporaryDirectory.appending(path: "waybill-bench-\(GUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = Source(id: GUID(), app: "bench", appVersion: "1", device: "", os: "", osVersion: "")
        let ours = try Store(.folder(folder.appending(path: "ours")))
        try ours.register(source)
        let bare = try BareStore(folder: folder.appending(path: "bare"), isSynced: false)

        let batches = Interleaved.batches(16 * 10, of: 5_000)
        let perRound = batches.count / 16
        var (next, nextBare) = (0, 0)
        return try Comparison.nanoseconds(operations: perRound * 5_000) {
            for _ in 0..<perRound {
                try ours.append(RecordedBatch(source: source.id, facts: batches[next], names: [], clocks: [], refused: 0))
                next += 1
            }
            return next
        } against: {
            for _ in 0..<perRound {
                try bare.insert(batches[nextBare])
                nextBare += 1
            }
            return nextBare
        }
    }
}

/// What a busy server records: 50 transactions at a time, 20 events each.
enum Interleaved {
    static func batches(_ count: Int, of size: Int) -> [[Fact]] {
        var open: [(part: Int, events: Int)] = []
        var sequence = 0
        var turn = 0
        return (0..<count).map { _ in
            (0..<size).map { _ in
                sequence += 1
                let at = sequence * 100
                guard open.count == 50 else {
                    open.append((sequence, 0))
                    return Fact(
                        sequence: sequence, part: sequence, atMicroseconds: at, content: .opened(.init(transaction: GUID(), useCase: 0)))
                }
                turn = (turn + 1) % 50
                let part = open[turn].part
                if open[turn].events == 20 {
                    open.remove(at: turn)
                    turn = 0
                    return Fact(sequence: sequence, part: part, atMicroseconds: at, content: .closed(.init(outcome: .succeeded)))
                }
                open[turn].events += 1
                return Fact(sequence: sequence, part: part, atMicroseconds: at, content: .event(.init(code: open[turn].events)))
            }
        }
    }
}
