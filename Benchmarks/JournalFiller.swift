import Foundation
import WaybillCore
import WaybillStore

/// A source whose facts stay in its journal until they are drained.
final class JournalFiller {
    let writer: SourceWriter
    private let clock = StandingClock()
    private var facts = Interleaved()

    init(in folder: URL) throws {
        let source = SourceIdentity(id: GUID(), app: "bench", appVersion: "1", device: "", os: "", osVersion: "")
        writer = SourceWriter(
            source: source, place: .folder(folder), clock: clock, capacity: 16_384, writesByItself: false)
        // The first fact creates the journal.
        facts.next { content, part in record(content, part: part).sequence }
        try writer.runAndWait { _, _ in }
    }

    func fill(_ count: Int) throws {
        for _ in 0..<count {
            try facts.next { content, part in
                let recorded = record(content, part: part)
                guard recorded.result == .journaled else {
                    throw WaybillError(.store, "A fact of the benchmark was not journaled.")
                }
                return recorded.sequence
            }
        }
    }

    private func record(_ content: Fact.Content, part: Int64) -> Recorded {
        clock.advance(by: Interleaved.microsecondsPerFact)
        return writer.recorder.record(content, part: part)
    }
}

/// A clock that advances only when told to.
private final class StandingClock: TransactionClock {
    private let microseconds = Locked<Int64>(0)

    func advance(by microseconds: Int64) { self.microseconds.withLock { $0 += microseconds } }
    func uptimeMicroseconds() -> Int64 { microseconds.withLock { $0 } }
    func wallMicroseconds() -> Int64 { 1_760_518_800_000_000 + uptimeMicroseconds() }
}
