import Foundation
import TestSupport
import WaybillCore
import WaybillStore
import WaybillTesting

/// A device that records and delivers, and its collector, on one disk and in one process, until a power cut.
final class Site {
    let disk: RecordingDisk
    let time: ManualTime
    var facts: RecordedFacts
    /// Unexpected results before the power cut.
    private(set) var surprises: [String] = []
    private var random: RandomNumbers
    private let collector: Store
    private var recorders: [FactMaker] = []
    private let journalSize: JournalSize

    /// - Parameter folder: An empty folder, or one that a power cut left.
    init(_ folder: URL, _ facts: RecordedFacts, _ time: ManualTime, _ random: RandomNumbers) throws {
        self.facts = facts
        self.time = time
        self.random = random
        disk = try RecordingDisk(folder, clock: time)
        collector = try Store(.folder(Self.collector(in: disk.folder)), commitsAreSynced: true)
        // Small enough for its segments to be reused, or so large that only a timer syncs it. Mapped or not, its bytes
        // end up in the system's cache.
        journalSize = JournalSize(
            segmentCount: 4, segmentByteCount: (self.random.oneIn(2) ? 8 : 64) * 1024, isMapped: self.random.oneIn(2))
    }

    static func device(in folder: URL) -> URL { folder.appending(path: "device", directoryHint: .isDirectory) }
    static func collector(in folder: URL) -> URL { folder.appending(path: "collector", directoryHint: .isDirectory) }

    /// Takes a random step of a device or a collector.
    func step() async throws {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<10: record()
        case 10..<15: try pass()
        case 15: try await sync()
        case 16..<19: try deliver()
        default: try recorders.randomElement(using: &random)?.writer.runAndWait { _, store in try store.checkpoint() }
        }
    }

    private func record() {
        if recorders.isEmpty || recorders.count < 3 && random.oneIn(12) {
            recorders.append(
                FactMaker(random.guid(), in: .folder(Self.device(in: disk.folder)), time, journalSize, random))
        }
        guard let recorder = recorders.randomElement(using: &random) else { return }
        for _ in 0..<Int.random(in: 1...40, using: &random) {
            // Looks only now and then: the system may write each page at any time.
            let moment = random.oneIn(4) ? disk.look() : disk.moment
            if let fact = recorder.record() {
                facts.add(fact, of: recorder.source, time: time.uptimeMicroseconds(), moment: moment)
            }
        }
        disk.look()
    }

    private func pass() throws {
        let steps: [Duration] = [
            .microseconds(900), .milliseconds(120), .milliseconds(400), .seconds(1), .seconds(3), .seconds(7),
        ]
        try time.advance(by: steps.randomElement(using: &random) ?? .seconds(1))
        disk.look()
    }

    private func sync() async throws {
        // Each source has its own journal, but they share one store.
        for recorder in recorders { try await recorder.writer.sync() }
        facts.sync(at: disk.look())
    }

    private func deliver() throws {
        guard let writer = recorders.randomElement(using: &random)?.writer else { return }
        let limit = LeaseLimit(factCount: Int.random(in: 1...60, using: &random))
        guard let set = try writer.lease(time, limit) else { return }
        // 0: never sent; 1: the answer is lost; 2: the answer is lost, and the lease is given back
        let fate = Int.random(in: 0..<6, using: &random)
        if fate > 0 {
            let receipt = try collector.ingest(
                TransactionSet.decode(set.encoded()), receivedAt: time.wallMicroseconds())
            facts.acknowledge(set, at: disk.look())
            if receipt.factCount != set.factCount || !receipt.rejections.isEmpty {
                surprises.append("a receipt says \(receipt)")
            }
            if fate > 2, try !writer.settle(set, time) { surprises.append("a lease is gone") }
        }
        if fate == 2 { try writer.runAndWait { _, store in try store.release(set.id) } }
    }
}

extension SourceWriter {
    func lease(_ time: ManualTime, _ limit: LeaseLimit = LeaseLimit()) throws -> TransactionSet? {
        let now = time.uptimeMicroseconds()
        return try runAndWait { opened, store in
            try store.lease(
                owner: opened.source.id, now: now, expiresIn: 60_000_000, limit: limit, isAlive: { opened.isAlive($0) })
        }
    }

    func settle(_ set: TransactionSet, _ time: ManualTime) throws -> Bool {
        let now = time.wallMicroseconds()
        return try runAndWait { _, store in try store.settle(set.id, rejections: [], at: now) }
    }
}
