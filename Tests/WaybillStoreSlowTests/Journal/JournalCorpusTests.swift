import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillStore
@testable import WaybillStoreTests

/// The journals that `make fuzz` found to behave differently. They don't end the process, and everything read from one
/// can be stored.
@Suite(.timeLimit(.minutes(10))) struct JournalCorpusTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Corpora/journal")
        .standardizedFileURL

    static var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { !$0.hasPrefix(".") }
            .sorted()
    }

    private let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    @Test func everyJournalOfTheCorpusIsReadOrRefused() throws {
        var readable = 0
        for name in Self.names {
            let bytes = Array(try Data(contentsOf: Self.folder.appending(path: name)))
            if try JournalBytes.check(bytes, at: scratch.file("journal").path) > 0 { readable += 1 }
        }
        #expect(readable > 0)
    }

    /// Breaks when a damaged journal with valid checksums yields a fact that a store can't hold.
    @Test func everyJournalOfTheCorpusCanBeRecovered() throws {
        let store = try Store(.memory(name: "\(GUID())"))
        for name in Self.names {
            let source = GUID()
            let bytes = JournalBytes.sealed(Array(try Data(contentsOf: Self.folder.appending(path: name))))
            try Data(bytes).write(to: scratch.file("journal-\(source)"))
            _ = try store.recoverJournals(in: scratch.url, installation: nil)
        }
        _ = try store.lease(owner: GUID(), now: 0, expiresIn: 1, isAlive: { _ in false })
    }

    /// Sealing recomputes the checksums. If that changed an undamaged journal, `sealed` would compute wrong checksums.
    @Test func sealingAWholeJournalChangesNothing() throws {
        for bytes in try Self.seeds(in: scratch) { #expect(JournalBytes.sealed(bytes) == bytes) }
    }

    /// Returns small journals with facts of every kind. `RENEW_CORPUS=1` writes them as the fuzzer's seeds.
    static func seeds(in scratch: TemporaryDirectory) throws -> [[UInt8]] {
        try everyContent.map { contents in
            let source = SourceIdentity(id: GUID(high: 7, low: 7), app: "shop", appVersion: "1")
            let description = TransactionSet(
                id: source.id,
                sources: [
                    TransactionSet.Share(
                        source: source, clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 0)], facts: [])
                ])
            let file = try JournalFile(
                LockedJournalFile(path: scratch.file("\(GUID())").path), description: description.encoded(),
                startMicroseconds: 0, salt: 7,
                size: JournalSize(segmentCount: 2, segmentByteCount: 1024, isMapped: false))
            var words = Array(UnsafeBufferPointer(start: file.words, count: file.layout.wordCount))
            for segment in 0..<2 {
                let index = file.layout.headerWordCount + segment * file.layout.segmentWordCount
                words[index] = UInt64(segment + 1)
                words[index + 1] = UInt64(segment * contents.count)
                var next = index + JournalLayout.segmentHeaderWordCount
                for (number, content) in contents.enumerated() {
                    let record = JournalBytes.words(of: content)
                    let wordCount = JournalRecord.prefixWordCount + record.count
                    guard next + wordCount <= index + file.layout.segmentWordCount else { continue }
                    let prefix = [
                        JournalHeading(content.journalKind, wordCount: wordCount, checksum: 0).word,
                        UInt64(segment * contents.count + number + 1), UInt64(number), 1,
                    ]
                    words.replaceSubrange(next..<next + wordCount, with: prefix + record)
                    next += wordCount
                }
            }
            return JournalBytes.sealed(words.withUnsafeBytes { Array($0) })
        }
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["RENEW_CORPUS"] != nil)) func renewTheSeeds() throws {
        try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
        for (index, bytes) in try Self.seeds(in: scratch).enumerated() {
            try Data(bytes).write(to: Self.folder.appending(path: "seed-\(index)"))
        }
    }
}

extension JournalCorpusTests {
    /// Facts of every kind, in their smallest and fullest forms, one list for each journal.
    private static let everyContent: [[Fact.Content]] = {
        let error = RecordedError(domain: "d", code: -1, text: "é")
        let attributes: Attributes = ["a": "x", "b": -7, "c": 0.5, "d": true]
        let fields = [HeaderField(name: "Accept", value: "*/*")]
        let cause = FactID(source: GUID(high: 1, low: 2), sequence: 9)
        return [
            [
                .opened(Fact.Opened(transaction: GUID(high: 3, low: 4), useCase: 3, attributes: attributes)),
                .event(Fact.Event(code: 12)), .closed(Fact.Closed(outcome: .succeeded)),
            ],
            [
                .opened(
                    Fact.Opened(
                        transaction: GUID(high: 5, low: 6), useCase: 0, isJoined: true, timeoutMicroseconds: 0,
                        cause: cause)),
                .event(Fact.Event(code: 1, error: error, attributes: attributes)),
                .closed(Fact.Closed(outcome: .failed, error: error, attributes: attributes)),
            ],
            [
                .exchangeOpened(
                    Fact.ExchangeOpened(
                        role: .server, method: "POST", scheme: "https", host: "a.example", port: 8443, path: "/login",
                        query: "",
                        headerFields: fields)),
                .exchangeClosed(
                    Fact.ExchangeClosed(
                        exchange: 1, state: .completed, status: 200, firstByteAtMicroseconds: 8, sentByteCount: 0,
                        receivedByteCount: 1 << 40, headerFields: fields)),
                .exchangeClosed(Fact.ExchangeClosed(exchange: 1, state: .failed, error: error)),
            ],
        ]
    }()
}
