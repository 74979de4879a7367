import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillTesting

@testable import WaybillExport
@testable import WaybillQueries
@testable import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct ManagerExportTests {
    enum Login: Int, UseCase {
        static let code = 0
        case initiated = 0, requestSent = 1
    }

    private let folder: TemporaryDirectory
    private let transactions: TransactionManager

    init() throws {
        folder = try TemporaryDirectory()
        transactions = TransactionManager(store: .directory(folder.file("store")))
    }

    @Test func theGuidesSampleDoesWhatItSays() async throws {
        let logs = folder.url
        transactions.perform(Login.self, attributes: ["variant": "B"]) { $0.log(.requestSent) }

        try await transactions.export(as: .ndjson, to: logs.appending(path: "facts.ndjson.gz"))

        let failed = TransactionFilter([.outcome([.failed])])
        do {
            try await transactions.export(as: .csv, matching: failed, to: logs.appending(path: "failed.csv"))
        } catch {
            guard error.code == .notFound else { throw error }
            print(error.message)
        }
        #expect(try folder.names() == ["facts.ndjson.gz", "store"])
        #expect(try Data(contentsOf: folder.file("facts.ndjson.gz")).prefix(2) == Data([0x1F, 0x8B]))
    }

    /// Breaks when the exported store dates the receipt of its facts by another clock than the manager's: its retention
    /// would use that date.
    @Test func anSQLiteFileHasHeardOfItsFactsWhenItWasMade() async throws {
        let clock = ManualClock()
        let transactions = TransactionManager.testing(clock: clock)
        transactions.perform(Login.self) { $0.log(.initiated) }
        clock.advance(by: .seconds(60))
        let file = folder.file("export.sqlite")
        try await transactions.export(as: .sqlite, to: file)
        let sources = try StoreReader(.file(file)).sources()
        #expect(sources.map(\.heardMicroseconds) == [clock.wallMicroseconds()])
    }

    /// Breaks when whoever gets an export, a report or a snapshot can impersonate its app.
    @Test func whatLeavesTheDeviceForReadersHasNoProof() async throws {
        transactions.perform(Login.self) { $0.log(.initiated) }
        for format in ExportFormat.allCases {
            try await transactions.export(as: format, to: folder.file("facts.\(format)"))
        }
        try await transactions.report(to: folder.file("report.html"))
        try await transactions.snapshot(to: folder.file("snapshot.sqlite"))
        let files = ExportFormat.allCases.map { "facts.\($0)" } + ["report.html", "snapshot.sqlite"]
        let store = try Store(.folder(folder.file("store")))
        let proofs = try store.connection.statement(
            "SELECT proof FROM sources UNION ALL SELECT value FROM settings WHERE key LIKE 'installation_proof %'"
        ).rows { row in row.text(0) }
        #expect(proofs.count == 2)
        for file in files {
            let bytes = try Data(contentsOf: folder.file(file))
            for proof in proofs { #expect(bytes.range(of: Data(proof.utf8)) == nil, "\(file)") }
        }
    }

    @Test(arguments: [ExportFormat.ndjson, .csv, .sqlite]) func itReadsItsOwnWritesAndGoesOnRecording(
        format: ExportFormat
    ) async throws {
        let login = transactions.begin(Login.self)
        for _ in 0..<50 { login.log(.requestSent) }
        let file = folder.file("export.\(format.rawValue)")
        let first = try await transactions.export(as: format, to: file)
        #expect(first.factCount == 51)
        login.finish()
        let second = try await transactions.export(as: format, to: file)
        #expect(second.factCount == 52)
        #expect(try file.resourceValues(forKeys: [.fileSizeKey]).fileSize.map { Int64($0) } == second.byteCount)
        #expect(try folder.names() == [file.lastPathComponent, "store"])
    }

    @Test func whatIsNotClosedIsNoSpanYet() async throws {
        let login = transactions.begin(Login.self)
        login.log(.requestSent)
        let file = folder.file("spans.otlp.jsonl")
        await #expect(throws: WaybillError.self) { try await transactions.export(as: .otlp, to: file) }
        login.finish()
        #expect(try await transactions.export(as: .otlp, to: file).factCount == 3)
        #expect(try String(contentsOf: file, encoding: .utf8).contains(#""name":"requestSent""#))
    }

    @Test func anSQLiteExportIsAStoreOfTheTransactionsThatMatch() async throws {
        transactions.perform(Login.self) { $0.log(.requestSent) }
        transactions.perform(Login.self) { $0.finish(.failed, error: RecordedError(domain: "d", code: 7)) }
        let failed = TransactionFilter([.outcome([.failed])])
        let file = folder.file("failed.sqlite")
        #expect(try await transactions.export(as: .sqlite, matching: failed, to: file).factCount == 2)
        let reader = try StoreReader(.file(file))
        #expect(reader.warnings.isEmpty)
        #expect(try reader.verify().problems.isEmpty)
        let rows = try reader.transactions(
            matching: TransactionFilter(), limit: 9, after: nil, now: SystemClock().wallMicroseconds()
        ).rows
        #expect(rows.map(\.error?.code) == [7])
        #expect(rows.map(\.useCaseName) == ["login"])
    }

    @Test func whatWasToBeSecretIsRedactedByTheManagersOwnNames() async throws {
        let transactions = TransactionManager(store: .directory(folder.file("other"))) { options in
            options.privacy.additionalSecretNames = ["iban"]
        }
        // Another manager, which does not know the secret name, writes into the same store.
        let careless = TransactionManager(store: .directory(folder.file("other")))
        careless.perform(Login.self, attributes: ["iban": "DE02120300000000202051"]) { _ in }
        try await careless.sync()
        let file = folder.file("facts.ndjson")
        try await transactions.export(as: .ndjson, to: file)
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.contains(#""iban":"[redacted]""#))
    }

    @Test(arguments: ExportFormat.allCases) func aFileThatCannotBeWrittenIsOneSentence(format: ExportFormat)
        async throws
    {
        transactions.perform(Login.self) { $0.log(.requestSent) }
        for file in [folder.file("missing/facts"), folder.file("store"), URL(filePath: "/proc/facts")] {
            let error = await #expect(throws: WaybillError.self) { try await transactions.export(as: format, to: file) }
            #expect(error?.code == .setting)
            #expect(error?.message.contains(file.path) == true)
        }
        #expect(try folder.names() == ["store"])
    }

    @Test(arguments: ExportFormat.allCases) func nothingToExportLeavesNoFileAndTheOneThatWasThere(format: ExportFormat)
        async throws
    {
        let file = folder.file("facts")
        try Data("old".utf8).write(to: file)
        let filter = TransactionFilter([.useCase(99)])
        let error = await #expect(throws: WaybillError.self) {
            try await transactions.export(as: format, matching: filter, to: file)
        }
        #expect(error?.code == .notFound)
        #expect(
            error?.message.hasPrefix("Nothing was exported. There is no transaction here: the store is empty.") == true)
        #expect(try Data(contentsOf: file) == Data("old".utf8))
        #expect(try folder.names() == ["facts", "store"])
    }

    @Test func anExportThatFailsInTheMiddleLeavesNothing() throws {
        let file = folder.file("facts")
        do {
            let partial = try PartialFile(file)
            try partial.write([1, 2, 3])
            #expect(try folder.names() == [partial.hiddenName])
            #expect(partial.hiddenName.hasPrefix(".facts."))
            #expect(throws: WaybillError.self, "Somebody writes it already.") { try PartialFile(file) }
        }
        #expect(try folder.names() == [])
    }

    @Test func anSQLiteFileIsNotCompressed() async throws {
        transactions.perform(Login.self) { _ in }
        await #expect(throws: WaybillError.self) {
            try await transactions.export(as: .sqlite, to: folder.file("x.sqlite.gz"))
        }
    }

    @Test func withRecordingOffThereIsNothingToExport() async throws {
        let error = await #expect(throws: WaybillError.self) {
            try await TransactionManager.disabled.export(as: .csv, to: folder.file("facts.csv"))
        }
        #expect(error?.code == .store)
    }
}
