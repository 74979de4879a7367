#if Collector
import ArgumentParser
import Foundation
import TestSupport
import Testing
@testable import WaybillCommand
import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct ServeSettingsTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func file(_ text: String) throws -> String {
        try Data(text.utf8).write(to: folder.file("settings.json"))
        return folder.file("settings.json").path
    }

    /// Every setting has another value in each place, and the one that should win does.
    @Test func optionsComeBeforeTheEnvironmentAndThatBeforeTheFile() async throws {
        let file = try file(#"{"port": 1, "maxConnections": 2, "idleSeconds": 3}"#)
        let environment = ["WAYBILL_PORT": "4", "WAYBILL_MAX_CONNECTIONS": "5"]
        let settings = try await ServeSettings(ServeFlags.parse(["--port", "6"]), environment: environment, file: file)
        #expect(settings.port == 6)
        #expect(settings.maximumConnections == 5)
        #expect(settings.idleSeconds == 3)
        #expect(settings.headerSeconds == 10)
    }

    /// Breaks when a setting is read under another name than the one that is printed, or printed from another one.
    @Test func everySettingHasTheSameNameInEveryPlace() async throws {
        let values: [ServeSetting: String] = [
            .host: "127.0.0.1", .insecure: "true", .tlsCert: "a.pem", .tlsKey: "b.pem", .tlsKeyPassword: "hunter22",
            .logLevel: "info",
            .otlp: "http://127.0.0.1:4318", .otlpHeaders: "api-key=hunter22",
        ]
        var environment: [String: String] = [:]
        var members: [String] = []
        var lines: [String] = []
        var arguments: [String] = []
        for (index, setting) in ServeSetting.allCases.enumerated() {
            let words = setting.rawValue.replacing(#/[A-Z]/#) { "-" + $0.output.lowercased() }
            let value = values[setting] ?? "\(index + 1)"
            environment["WAYBILL_" + words.uppercased().replacing("-", with: "_")] = value
            members.append(
                "\"\(setting.rawValue)\": " + (values[setting] == nil || value == "true" ? value : "\"\(value)\""))
            lines.append("\(setting.rawValue) = \(setting.isSecret ? "[hidden]" : value)")
            if !setting.isSecret { arguments += value == "true" ? ["--\(words)"] : ["--\(words)", value] }
        }
        #expect(try await ServeSettings(environment: environment).lines == lines)
        #expect(
            try await ServeSettings(environment: [:], file: file("{\(members.joined(separator: ","))}")).lines == lines)
        let options = try await ServeSettings(
            ServeFlags.parse(arguments), environment: ["WAYBILL_TLS_KEY_PASSWORD": "x", "WAYBILL_OTLP_HEADERS": "x=y"])
        #expect(options.lines == lines)
    }

    @Test(arguments: [
        (#"{"prot": 1}"#, "There is no setting “prot”"),
        (#"{"port": "many"}"#, "The setting port is not a number from 0 to 65535."),
        (#"{"port": 65536}"#, "The setting port is not a number from 0 to 65535."),
        (#"{"maxBodyBytes": 0}"#, "The setting maxBodyBytes is not a number"),
        (#"{"insecure": "perhaps"}"#, "The setting insecure is not true or false."),
        (#"{"logLevel": "loud"}"#, "The setting logLevel is not one of trace,"),
        (#"{"tlsCert": "a.pem"}"#, "HTTPS takes both"),
        (#"{"otlp": "127.0.0.1:4318"}"#, "The backend's address is no HTTP URL"), ("[]", "The settings in"),
        (#"{"insecure": true, "host": "0.0.0.0"}"#, "Without tokens the collector listens on loopback alone"),
    ])
    func whatCannotBeMeantIsASentence(text: String, sentence: String) async throws {
        let error = await #expect(throws: WaybillError.self) {
            try await ServeSettings(environment: [:], file: file(text))
        }
        #expect(error?.message.hasPrefix(sentence) == true)
    }

    @Test func anEnvironmentThatCannotBeMeantIsNotPassedOver() async throws {
        await #expect(throws: WaybillError.self) { try await ServeSettings(environment: ["WAYBILL_PORT": "many"]) }
    }

    @Test func theConfigurationIsPrintedWithoutSecrets() async throws {
        let result = try await Command.waybill(
            "serve", folder.url.path, "--print-config", "--otlp", "http://me:hunter22@127.0.0.1:4318/?api_key=hunter22",
            environment: ["WAYBILL_TLS_KEY_PASSWORD": "hunter22", "WAYBILL_OTLP_HEADERS": "api-key=hunter22"])
        #expect(result.status == 0)
        #expect(result.output.contains("tlsKeyPassword = [hidden]\n"))
        #expect(result.output.contains("otlp = http://127.0.0.1:4318/"))
        #expect(result.output.contains("otlpHeaders = [hidden]\n"))
        #expect(!result.output.contains("hunter22"))
    }
}
#endif
