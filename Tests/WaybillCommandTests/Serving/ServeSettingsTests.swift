#if Collector
import ArgumentParser
import Foundation
import TestSupport
import Testing
@testable import WaybillCommand
import WaybillCollector
import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct ServeSettingsTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func file(_ text: String) throws -> String {
        try Data(text.utf8).write(to: folder.file("settings.json"))
        return folder.file("settings.json").path
    }

    /// Sets every setting to a different value in each place, and expects the value with the highest precedence.
    @Test func optionsComeBeforeTheEnvironmentAndThatBeforeTheFile() async throws {
        let file = try file(#"{"port": 1, "maxConnections": 2, "idleSeconds": 3}"#)
        let environment = ["WAYBILL_PORT": "4", "WAYBILL_MAX_CONNECTIONS": "5"]
        let settings = try await ServeSettings(ServeFlags.parse(["--port", "6"]), environment: environment, file: file)
        #expect(settings.port == 6)
        #expect(settings.maximumConnections == 5)
        #expect(settings.idleSeconds == 3)
        #expect(settings.headerSeconds == 10)
    }

    /// Breaks when a setting is read under another name than the printed one, or printed from another setting.
    @Test func everySettingHasTheSameNameInEveryPlace() async throws {
        let budgets = folder.file("budgets.json").path
        try Data(#"[{"use_case": "login", "failed_percent": 2}]"#.utf8).write(to: folder.file("budgets.json"))
        let values = [
            "host": "127.0.0.1", "insecure": "true", "allowPlainHttp": "true", "tlsCert": "a.pem", "tlsKey": "b.pem",
            "tlsKeyPassword": "hunter22", "logLevel": "info", "secretNames": "customer-number,member",
            "visibleNames": "code,key", "sample": "login=0.1,0.5", "otlp": "http://127.0.0.1:4318",
            "otlpHeaders": "api-key=hunter22", "check": budgets, "webhook": "http://127.0.0.1:4319",
        ]
        var environment: [String: String] = [:]
        var members: [String] = []
        var lines: [String] = []
        var arguments: [String] = []
        for (index, setting) in ServeSetting.all.enumerated() {
            let words = setting.name.replacing(#/[A-Z]/#) { "-" + $0.output.lowercased() }
            let value = values[setting.name] ?? "\(index + 1)"
            environment["WAYBILL_" + words.uppercased().replacing("-", with: "_")] = value
            members.append(
                "\"\(setting.name)\": " + (values[setting.name] == nil || value == "true" ? value : "\"\(value)\""))
            lines.append("\(setting.name) = \(setting.isSecret ? "[hidden]" : value)")
            if !setting.isSecret { arguments += value == "true" ? ["--\(words)"] : ["--\(words)", value] }
        }
        #expect(try await ServeSettings(environment: environment).lines == lines)
        #expect(
            try await ServeSettings(environment: [:], file: file("{\(members.joined(separator: ","))}")).lines == lines)
        let options = try await ServeSettings(
            ServeFlags.parse(arguments), environment: ["WAYBILL_TLS_KEY_PASSWORD": "x", "WAYBILL_OTLP_HEADERS": "x=y"])
        #expect(options.lines == lines)
    }

    /// Breaks when a collector without configuration fills its disk, or one configured with "no limit" deletes data.
    @Test func whatNobodyChoseIsBoundedAndToldAndWhatWasChosenHolds() async throws {
        let defaults = try await ServeSettings(environment: [:])
        #expect(defaults.limits.maximumAge == .seconds(90 * 86_400) && defaults.limits.storeByteCount == 10 << 30)
        #expect(
            defaults.warnings == [
                "One hour after the start, the default limits begin to delete data older than 90 days (--retention-days) and a project's oldest data beyond 10737418240 bytes (--max-store-bytes). 0 means no limit."
            ])
        #expect(
            defaults.forDatabase.warnings == [
                "One hour after the start, the default limits begin to delete data older than 90 days (--retention-days). 0 means no limit."
            ])
        let half = try await ServeSettings(environment: ["WAYBILL_RETENTION_DAYS": "7"])
        #expect(half.limits.maximumAge == .seconds(7 * 86_400))
        #expect(half.warnings.count == 1 && !half.warnings[0].contains("--retention-days"))
        let none = try await ServeSettings(environment: [:], file: file(#"{"retentionDays": 0, "maxStoreBytes": 0}"#))
        #expect(none.limits.maximumAge == nil && none.limits.storeByteCount == nil)
        #expect(none.warnings.isEmpty && none.retentionDefaults.isEmpty)
        #expect(none.lines.contains("retentionDays = 0") && none.lines.contains("maxStoreBytes = 0"))
    }

    /// Breaks when the collector sends tokens over the network in the clear without consent.
    @Test func beyondLoopbackItTakesTLSOrAYes() async throws {
        for host in ["0.0.0.0", "::", "192.0.2.1", "collector.example"] {
            let error = await #expect(throws: WaybillError.self) {
                try await ServeSettings(environment: ["WAYBILL_HOST": host])
            }
            #expect(error?.message.contains("--allow-plain-http") == true)
            let allowed = try await ServeSettings(
                ServeFlags.parse(["--host", host, "--allow-plain-http"]), environment: [:])
            #expect(allowed.warnings.contains { $0.hasPrefix("Tokens arrive unencrypted at \(host)") })
            let secure = ["WAYBILL_HOST": host, "WAYBILL_TLS_CERT": "a.pem", "WAYBILL_TLS_KEY": "b.pem"]
            #expect(try await ServeSettings(environment: secure).warnings.count == 1)
        }
    }

    /// Breaks when the collector ignores one of several rates.
    @Test func ratesAreGivenOneByOneOrTogether() async throws {
        let flags = try ServeFlags.parse(["--sample", "login=0.1", "--sample", "a=b=1, 7=0.25", "--sample", "0.5"])
        let settings = try await ServeSettings(flags, environment: [:])
        #expect(settings.limits.samplingRates == ["login": 0.1, "a=b": 1, "7": 0.25, "*": 0.5])
        #expect(try await ServeSettings(environment: [:]).limits.samplingRates.isEmpty)
    }

    @Test(arguments: [
        (#"{"prot": 1}"#, "There is no setting “prot”"),
        (#"{"port": "many"}"#, "The setting port is not a number from 0 to 65535."),
        (#"{"port": 65536}"#, "The setting port is not a number from 0 to 65535."),
        (#"{"maxBodyBytes": 0}"#, "The setting maxBodyBytes is not a number"),
        (#"{"retentionDays": 9223372036854775807}"#, "The setting retentionDays is not a number from 0 to 36500."),
        (#"{"sessionHours": -9223372036854775808}"#, "The setting sessionHours is not a number from 1 to 8760."),
        (#"{"insecure": "perhaps"}"#, "The setting insecure is not true or false."),
        (#"{"logLevel": "loud"}"#, "The setting logLevel is not one of trace,"),
        (#"{"tlsCert": "a.pem"}"#, "HTTPS takes both"),
        (#"{"otlp": "127.0.0.1:4318"}"#, "The backend's address is no HTTP URL"), ("[]", "The settings in"),
        (#"{"webhook": "https://example.com/hook"}"#, "Alerts take both --check and --webhook."),
        (#"{"check": "no-such.json", "webhook": "https://example.com/hook"}"#, "Can't read no-such.json"),
        (#"{"sample": "login=2"}"#, "The setting sample is not what it should be at “login=2”: give login=0.1"),
        (#"{"sample": "login=1e-300"}"#, "The setting sample is not what it should be at “login=1e-300”"),
        (#"{"sample": "0.1,0.2"}"#, "The setting sample is not what it should be at “0.2”"),
        (#"{"sample": "=0.1"}"#, "The setting sample is not what it should be at “=0.1”"),
        (#"{"sample": "login"}"#, "The setting sample is not what it should be at “login”"),
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
        let budgets = folder.file("budgets.json").path
        try Data(#"[{"use_case": "login", "failed_percent": 2}]"#.utf8).write(to: folder.file("budgets.json"))
        let result = try await Command.waybill(
            "serve", folder.url.path, "--print-config", "--otlp", "http://me:hunter22@127.0.0.1:4318/?api_key=hunter22",
            environment: [
                "WAYBILL_TLS_KEY_PASSWORD": "hunter22", "WAYBILL_OTLP_HEADERS": "api-key=hunter22",
                "WAYBILL_CHECK": budgets, "WAYBILL_WEBHOOK": "https://hooks.example/services/hunter22",
            ])
        #expect(result.status == 0)
        #expect(result.output.contains("webhook = https://hooks.example/[hidden]\n"))
        #expect(result.output.contains("tlsKeyPassword = [hidden]\n"))
        #expect(result.output.contains("otlp = http://127.0.0.1:4318/"))
        #expect(result.output.contains("otlpHeaders = [hidden]\n"))
        #expect(!result.output.contains("hunter22"))
    }
}
#endif
