import Foundation
import TestSupport
import Testing
import WaybillStore
import WaybillTesting

@testable import Waybill

/// Settings that a tester makes at launch, and nobody else can.
@Suite(.timeLimit(.minutes(5))) struct LaunchSettingsTests {
    @Test func theEnvironmentAndTheArgumentsAreUnderstood() throws {
        let settings = LaunchSettings(
            environment: [
                "WAYBILL_RECORDING": "On", "WAYBILL_COLLECTOR": "https://collector.example.com",
                "WAYBILL_TOKEN": "secret",
                "WAYBILL_STORE": "/tmp/store", "WAYBILL_HOSTS": "api.example.com, other.example.com",
            ],
            arguments: ["app", "-WaybillRecording", "off", "-AppleLanguages", "(de)"])
        #expect(settings.problems.isEmpty)
        #expect(settings.recording == .off, "an argument wins over the environment")
        #expect(settings.store == .directory(URL(filePath: "/tmp/store/")))
        #expect(settings.correlatedHosts == ["api.example.com", "other.example.com"])
        #expect(settings.delivery != nil)
    }

    @Test func theyWinOverWhatTheCodeSays() throws {
        var options = TransactionManager.Options()
        options.recording = .on
        let launch = LaunchSettings(
            environment: ["WAYBILL_HOSTS": "api.example.com,https://x"],
            arguments: ["-WaybillRecording", "off", "-WaybillStore", "/tmp/x"])
        let settings = RecordingSettings(
            store: .inMemory, correlatedHosts: ["example.com"], options: options, launch: launch)
        #expect(settings.options.recording == .off)
        #expect(settings.place == .folder(URL(filePath: "/tmp/x/")))
        #expect(settings.correlatedHosts.names == ["api.example.com"])
        #expect(settings.problems.count == 1, "a host that is none is told as ever")
    }

    /// Breaks when a UI test reads a store that the app doesn't write.
    @Test func whatAUITestAsksForIsUnderstood() throws {
        let folder = try TemporaryDirectory()
        let collector = try #require(URL(string: "https://collector.example.com"))
        let arguments = TransactionManager.launchArguments(
            store: folder.file("a store"), hosts: ["127.0.0.1", "*.example.com"], collector: collector, recording: .off)
        let settings = LaunchSettings(environment: [:], arguments: ["app"] + arguments)
        #expect(settings.problems.isEmpty)
        #expect(settings.store == .directory(folder.file("a store").appending(path: "")))
        #expect(settings.correlatedHosts == ["127.0.0.1", "*.example.com"])
        #expect(settings.delivery != nil)
        #expect(settings.recording == .off)
        #expect(TransactionManager.launchArguments() == [], "what is left out is the app's")
    }

    /// An app that a UI test launches.
    private final class App {
        struct Buttons {
            let transactions: TransactionManager?

            subscript(name: String) -> Buttons { self }

            func tap() {
                transactions?.perform(Login.self) { $0.log(.requestSent) }
                _ = transactions?.health  // waits until it is written
            }
        }

        var launchArguments: [String] = []
        private(set) var buttons = Buttons(transactions: nil)

        func launch() {
            let launch = LaunchSettings(environment: [:], arguments: launchArguments)
            let settings = RecordingSettings(
                store: .inMemory, correlatedHosts: [], options: TransactionManager.Options(), launch: launch)
            buttons = Buttons(
                transactions: TransactionManager(settings: settings, delivery: nil, diagnostics: { _ in }))
        }
    }

    /// The code of the guide.
    @Test func aUITestReadsWhatTheAppRecorded() throws {
        let temporary = try TemporaryDirectory()
        let (app, folder) = (App(), temporary.file("store"))
        app.launchArguments += TransactionManager.launchArguments(store: folder, hosts: ["127.0.0.1"])
        app.launch()
        app.buttons["Log in"].tap()
        let transactions = TransactionManager(store: .directory(folder))
        #expect(try transactions.last(Login.self)?.outcome == .succeeded)
    }

    @Test(arguments: [
        (["WAYBILL_RECORDING": "maybe"], ["-x"]), (["WAYBILL_COLLECTOR": "collector"], []),
        (["WAYBILL_TOKEN": "s3cret"], []),
        (["WAYBILL_STORE": "here"], []), ([:], ["app", "-WaybillRecording"]),
        (["WAYBILL_COLLECTOR": "ftp://u:s3cret@example.com"], []),
    ]) func whatCannotBeUnderstoodIsIgnoredAndTold(environment: [String: String], arguments: [String]) throws {
        let settings = LaunchSettings(environment: environment, arguments: arguments)
        #expect(settings.problems.count == 1)
        #expect(settings.problems.first?.code == .setting)
        #expect(!"\(settings.problems)".contains("s3cret"))
        #expect(settings.recording == nil && settings.delivery == nil && settings.store == nil)
    }

    /// Breaks when setting the environment of a released app can send its data elsewhere.
    @Test(arguments: [true, false]) func theyAreObeyedOnlyByThoseThatWereToldTo(obeys: Bool) throws {
        let folder = try TemporaryDirectory()
        let child = try ChildProcess(
            "TestProcess", [obeys ? "obey" : "ignore", folder.file("own").path()],
            environment: ["WAYBILL_STORE": folder.file("launch").path(), "WAYBILL_RECORDING": "loud"])
        let (output, status) = child.finish()
        #expect(status == 0)
        #expect(try folder.names() == [obeys ? "launch" : "own"])
        #expect(output.contains("WAYBILL_RECORDING") == obeys, "told through diagnostics, and in health: \(output)")
    }
}
