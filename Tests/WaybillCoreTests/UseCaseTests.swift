import Foundation
import TestSupport
import Testing
import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct UseCaseTests {
    enum Login: Int, UseCase {
        static let code = 0
        case initiated = 0
        case requestSent = 1
    }

    enum Renamed: Int, UseCase {
        static let code = 1
        static let name = "purchase"
        static let timeout = Duration.seconds(60)
        case paid = 0
        var eventName: String { "money is there" }
    }

    struct Numbered: UseCase {
        static let code = 2
        static let allCases: [Numbered] = []
        var rawValue: Int
    }

    @Test func namesComeFromTheCode() {
        #expect(Login.name == "login")
        #expect(Login.requestSent.eventName == "requestSent")
        #expect(Login.timeout == .seconds(86_400))
    }

    @Test func namesCanBeGiven() {
        #expect(Renamed.name == "purchase")
        #expect(Renamed.paid.eventName == "money is there")
        #expect(Renamed.timeout == .seconds(60))
    }

    enum Named: String, UseCase { case initiated, requestSent = "request sent" }

    @Test func namesAloneMakeCodes() {
        #expect(Named.name == "named" && Named.code == NameCode.code(of: "named"))
        #expect(Named.requestSent.eventName == "request sent")
        #expect(Named.event(code: Named.requestSent.eventCode) == .requestSent && Named.event(code: 1) == nil)
        #expect(Login.event(code: 1) == .requestSent && Login.event(code: 7) == nil)
        #expect(Numbered.event(code: 7) == Numbered(rawValue: 7))
    }

    @Test func aUseCaseThatIsNoEnumHasNumbersForNames() {
        #expect(Numbered(rawValue: 7).eventName == "event 7")
        #expect(Numbered.name == "numbered")
    }

    #if os(Linux) || os(macOS)
    /// Builds and runs a real program, with and without reflection metadata.
    @Test(arguments: [([], "login initiated"), (["-Xfrontend", "-disable-reflection-metadata"], "login event 0")])
    func namesSurviveABuildWithoutReflectionMetadata(options: [String], expected: String) throws {
        let folder = try TemporaryDirectory()
        let sources = ["UseCase.swift", "Support/Hashes.swift"].map { name in
            URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/WaybillCore/\(name)")
                .standardized.path
        }
        try """
        enum Login: Int, UseCase {
            static let code = 0
            case initiated = 0
        }
        print(Login.name, Login.initiated.eventName)
        """.write(to: folder.file("main.swift"), atomically: true, encoding: .utf8)
        let program = folder.file("program").path
        let build = try run(
            "/usr/bin/env",
            ["swiftc", "-Onone", "-package-name", "test"] + sources
                + [folder.file("main.swift").path, "-o", program] + options)
        try #require(build.status == 0, "\(build.output)")
        #expect(try run(program, []).output == expected + "\n")
    }

    private func run(_ path: String, _ arguments: [String]) throws -> (output: String, status: Int32) {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (output, process.terminationStatus)
    }
    #endif
}
