import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillStore
import WaybillTesting

/// An app's enum that changes between launches.
private enum Before {
    enum Form: Int, UseCase {
        static let code = 40
        case typed = 1, sent = 2
    }
}

private enum After {
    enum Form: Int, UseCase {
        static let code = 40
        case biometricsAsked = 1, typed = 2, sent = 3
    }
}

/// Use cases that have names and no numbers.
private enum Upload: String, UseCase { case initiated, requestSent }
private enum Import: String, UseCase {
    static let name = "photo import"
    case started, finished = "done"
}
private enum Numbered: Int, UseCase { case first = 1 }

/// The names of use cases and events. Breaks when history is renamed, or numbers replace names.
@Suite(.timeLimit(.minutes(5))) struct UseCaseNameTests {
    private func launch(_ folder: TemporaryDirectory, version: String? = nil) -> TransactionManager {
        var options = TransactionManager.Options()
        (options.app, options.appVersion) = ("shop", version)
        var settings = RecordingSettings(store: .directory(folder.url), correlatedHosts: [], options: options)
        settings.writesByItself = false
        return TransactionManager(settings: settings, delivery: nil, diagnostics: { _ in })
    }

    // MARK: An enum that changes

    /// Without a version, as on every server, and with an unchanged version, as during the development of an app.
    @Test(arguments: [nil, "1.0"]) func anEnumThatChangedDoesNotRenameHistory(version: String?) async throws {
        let folder = try TemporaryDirectory()
        let first = launch(folder, version: version)
        first.perform(Before.Form.self) { form in
            form.log(.typed)
            form.log(.sent)
        }
        try await first.sync()
        let second = launch(folder, version: version)
        second.perform(After.Form.self) { form in
            form.log(.biometricsAsked)
            form.log(.typed)
            form.log(.sent)
        }
        // The previous enum: an update was reverted.
        let third = launch(folder, version: version)
        try await second.sync()
        third.perform(Before.Form.self) { $0.log(.sent) }
        try await third.sync()

        let labels = try third.allRecords().map { $0.timeline.filter { $0.kind == .event }.map(\.label) }
        #expect(labels == [["typed", "sent"], ["biometricsAsked", "typed", "sent"], ["sent"]])
        #expect(try await third.transactions(matching: "event:typed").page().rows.count == 2)
        #expect(try await third.transactions(matching: "event:biometricsAsked").page().rows.count == 1)
        #expect(try await third.transactions(matching: "event:sent").page().rows.count == 3)
        let filter = TransactionFilter([.useCase(Before.Form.code)])
        let funnel = try await third.answer(
            FunnelQuestion(filter: filter, steps: [.begun, .event("typed"), .event("sent")]))
        #expect(funnel.total.steps.map(\.reached) == [3, 2, 2])
        let source = try #require(third.sources.readableSource)
        let conflicts = try await source.writer.read { reader in try reader.nameConflicts() }
        #expect(conflicts.map(\.event) == [1, 2])
        #expect(conflicts.first?.names.map(\.name) == ["biometricsAsked", "typed"])
        #expect(conflicts.flatMap { $0.names.flatMap(\.versions) }.allSatisfy { $0 == version ?? "" })
    }

    // MARK: Two enums, one code

    private enum Refund: Int, UseCase {
        static let code = Login.code
        case asked = 0, granted = 1
    }

    @Test func twoUseCasesWithOneCodeAreReportedAndToldApart() async throws {
        let told = Locked<[String]>([])
        let tx = TransactionManager.testing { options in
            options.diagnostics = { sentence in told.withLock { $0.append(sentence) } }
        }
        tx.perform(Login.self) { login in
            login.log(.initiated)
            #expect(Refund.current == nil, "it is a login")
            tx.perform(Refund.self) { refund in
                #expect(Refund.current?.id == refund.id && Login.current?.id == login.id)
            }
        }
        tx.diagnostics.settle()
        let sentence = try #require(told.withLock { $0 }.first)
        #expect(sentence.contains("“login” and “refund”") && sentence.contains("same code, 0"))
        #expect(told.withLock { $0 }.count == 1)
        #expect(tx.health.problems.map(\.message) == [sentence] && !tx.health.isGood)
        let source = try #require(tx.sources.readableSource)
        let remarks = try await source.writer.read { reader in try reader.verify().remarks }
        #expect(remarks.contains { $0.hasPrefix("Use case 0 has several names: login") && $0.contains("refund") })
        #expect(try tx.allRecords().map(\.summary.useCaseName) == ["login", "login"], "the first one's names stay")
    }

    /// The enum in another module of one program, which knows fewer events.
    private enum SameLogin: Int, UseCase {
        static let code = Login.code
        static let name = Login.name
        case initiated = 0
    }

    @Test func theSameUseCaseInTwoModulesIsNoMistake() {
        let tx = TransactionManager.testing()
        tx.perform(Login.self) { login in #expect(SameLogin.current?.id == login.id) }
        #expect(tx.health.isGood)
    }

    // MARK: Names instead of numbers

    @Test func namesAloneWillDo() async throws {
        let tx = TransactionManager.testing()
        tx.perform(Upload.self) { upload in
            upload.log(.initiated)
            upload.log(.requestSent, code: 500)
            #expect(Upload.current?.id == upload.id && Import.current == nil)
        }
        tx.perform(Import.self) { $0.log(.finished) }
        tx.perform(Numbered.self) { $0.log(.first) }
        #expect(try tx.transactions(Upload.self).flatMap { $0.events.map(\.event) } == [.initiated, .requestSent])
        #expect(try tx.last(Import.self)?.outcome == .succeeded)
        #expect(try tx.transactions(Import.self).flatMap { $0.events.map(\.event) } == [.finished])
        #expect(try tx.transactions(Numbered.self).flatMap { $0.events.map(\.event) } == [.first])
        let records = try tx.allRecords()
        #expect(records.map(\.summary.useCaseName) == ["upload", "photo import", "numbered"])
        #expect(records[1].timeline.map(\.label) == ["begun", "done", "succeeded"])
        #expect(try await tx.transactions(matching: "useCase:\"photo import\" event:done").page().rows.count == 1)
    }

    @Test func codesAreDerivedFromNamesAlone() {
        #expect(Upload.code == NameCode.code(of: "upload") && Import.code == NameCode.code(of: "photo import"))
        #expect(Upload.requestSent.eventCode == NameCode.code(of: "requestSent"))
        #expect(Set([Upload.code, Import.code, Upload.initiated.eventCode, Import.started.eventCode]).count == 4)
        #expect(Numbered.first.eventCode == 1 && Numbered.code > Int32.max)
        #expect(Upload.code <= Limits.largestCode)
        #expect(NameCode.code(of: "upload") == 285_791_349_709_823, "the same in every version of the library")
    }

    /// Breaks when a server ignores the header fields of use cases that have a name and no number.
    @Test func aServerJoinsAUseCaseThatHasANameAndNoNumber() throws {
        let client = TransactionManager.testing(correlatedHosts: ["api.example.com"])
        let server = TransactionManager.testing { $0.server.accepting = .only(Upload.self, Import.self) }
        let url = try #require(URL(string: "https://api.example.com/upload"))
        let upload = client.begin(Upload.self)
        #expect(server.join(Upload.self) { upload.headers(for: url)[$0] }.id == upload.id)
        let photos = client.begin(Import.self)
        #expect(server.join { photos.headers(for: url)[$0] }?.id == photos.id)
        #expect(server.health.malformedHeaders == 0)
    }

    /// A name's code has 15 digits at most, since no integer of a header field has more.
    @Test func theCodeOfAnyNameFitsAHeaderField() {
        for number in 0..<1_000 {
            let header = TransactionHeader(transaction: GUID(), useCase: NameCode.code(of: "use case \(number)"))
            #expect(TransactionHeader(parsing: header.description) == header)
        }
    }
}
