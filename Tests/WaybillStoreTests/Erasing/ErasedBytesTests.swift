import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// The bytes left in the files after an erasure, as another process reads them.
@Suite(.timeLimit(.minutes(5))) struct ErasedBytesTests {
    private let folder: TemporaryDirectory
    private let store: Store
    private let app = FactWriter()

    init() throws {
        folder = try TemporaryDirectory()
        store = try Store(.folder(folder.url))
    }

    /// Returns the store's files that contain a text, as `grep` sees them.
    private func files(with text: String) throws -> [String] {
        let grep = Process()
        grep.executableURL = URL(filePath: "/bin/sh")
        grep.arguments = ["-c", "cd \"$1\" && grep -l -a -F -- \"$2\" waybill.sqlite*", "sh", folder.url.path, text]
        let output = Pipe()
        grep.standardOutput = output
        try grep.run()
        let found = output.fileHandleForReading.readDataToEndOfFile()
        grep.waitUntilExit()
        return String(decoding: found, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func write(_ marker: String, into transaction: GUID) throws {
        let part = app.open(transaction, attributes: ["note": .string("opened \(marker)")])
        for index in 0..<40 { app.event(1, part: part, attributes: ["note": .string("\(marker) \(index)")]) }
        // The text is longer than a page, which makes it overflow into others.
        app.event(2, part: part, error: RecordedError(code: 1, text: String(repeating: marker, count: 2_000)))
        let exchange = app.openExchange(
            Fact.ExchangeOpened(method: "GET", host: marker, path: "/\(marker)"), part: part)
        app.closeExchange(
            Fact.ExchangeClosed(
                exchange: exchange, state: .completed, headerFields: [HeaderField(name: "Server", value: marker)]),
            part: part)
        app.close(part, .failed, error: RecordedError(code: 1, text: marker))
        app.openExchange(Fact.ExchangeOpened(method: "GET", host: "outside-\(marker)", path: "/"), part: 0)
        try app.record(into: store)
    }

    /// Breaks when bytes stay in a page, in a free page, in an index or in the WAL; or when the marker never existed in
    /// the files.
    @Test(arguments: [true, false])
    func noByteOfWhatWasErasedIsLeft(isInWAL: Bool) throws {
        let (gone, kept) = (GUID(), GUID())
        try write("MARKER-of-the-erased", into: gone)
        try write("MARKER-of-the-kept", into: kept)
        if !isInWAL { try store.checkpoint() }
        #expect(try files(with: "MARKER-of-the-erased") == [isInWAL ? "waybill.sqlite-wal" : "waybill.sqlite"])

        _ = try store.erase(.transactions([gone]), at: 0)
        _ = try store.erase(.begunBefore(Date(microseconds: FactWriter.wall + 47_000_000)), at: 0)
        #expect(try files(with: "MARKER-of-the-erased") == [])
        #expect(try files(with: "MARKER-of-the-kept") == ["waybill.sqlite"])

        _ = try store.erase(.all, at: 0)
        #expect(try files(with: "MARKER-of") == [])
        #expect(try StoreReader(.folder(folder.url)).verify().problems == [])
    }

    /// Breaks when an erasure is reported as complete although a reader keeps its bytes in the WAL.
    @Test func aReaderThatKeepsTheBytesIsToldOf() throws {
        try write("MARKER-of-the-erased", into: GUID())
        let reader = try StoreReader(.folder(folder.url))
        try reader.connection.execute("PRAGMA busy_timeout = 0; BEGIN; SELECT count(*) FROM events")
        try store.connection.execute("PRAGMA busy_timeout = 1")
        let error = #expect(throws: WaybillError.self) { try store.erase(.all, at: 0) }
        #expect(error?.message.contains("still in the WAL") == true, "\(String(describing: error))")
        #expect(try files(with: "MARKER-of-the-erased") == ["waybill.sqlite-wal"])

        try reader.connection.execute("COMMIT")
        #expect(try store.erase(.all, at: 0) == Erasure())
        #expect(try files(with: "MARKER-of-the-erased") == [])
    }
}
