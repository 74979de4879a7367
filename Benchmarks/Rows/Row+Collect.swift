#if Collector
import Foundation
import Hummingbird
import Logging
import NIOCore
import Waybill
import WaybillCollector
import WaybillCore

extension Row {
    /// Sets of 2,000 facts over HTTP into a synced store: encoded before, sent, decoded, stored and answered one after the other.
    static let collect = Row("collect", unit: "facts/s", against: "bare synced inserts") {
        let folder = FileManager.default.temporaryDirectory.appending(path: "waybill-bench-\(GUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let size = 2_000
        let rounds = 15
        let batches = Interleaved.batches(rounds * 5, of: size)
        let source = Source(id: GUID(), app: "bench", appVersion: "1", device: "", os: "", osVersion: "")
        let sets = batches.map { facts in
            let share = TransactionSet.Share(
                source: source, clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 1_760_518_800_000_000)],
                ledger: Ledger(recorded: facts.last?.sequence ?? 0), facts: facts)
            let set = TransactionSet(id: GUID(), sources: [share])
            return OutgoingSet(id: set.id, body: set.encoded(), factCount: size)
        }
        let bare = try BareStore(folder: folder.appending(path: "bare"), isSynced: true)

        let (ports, port) = AsyncStream<Int>.makeStream()
        let application = Application(
            router: try Collector(folder: folder.appending(path: "collector")).router(),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) }, logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        let running = Task { try await application.run() }
        defer { running.cancel() }
        var iterator = ports.makeAsyncIterator()
        guard let url = URL(string: "http://127.0.0.1:\(await iterator.next() ?? 0)") else { throw URLError(.badURL) }
        let transport = URLSessionTransport(collector: url)

        var values: [Double] = []
        var baselines: [Double] = []
        for round in 0..<rounds {
            let chosen = (round * 5)..<(round * 5 + 5)
            let start = ContinuousClock.now
            for index in chosen {
                let receipt = try await transport.send(sets[index])
                guard receipt.acceptedCount == size else { throw WaybillError(.refused, "The collector did not take every fact.") }
            }
            let middle = ContinuousClock.now
            for index in chosen { try bare.insert(batches[index]) }
            let end = ContinuousClock.now
            values.append(Double(chosen.count * size) / ((middle - start) / .seconds(1)))
            baselines.append(Double(chosen.count * size) / ((end - middle) / .seconds(1)))
        }
        return Comparison(value: values.median, baseline: baselines.median)
    }
}
#endif
