#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

/// Forwards everything that a session reports to the delegate, and everything that the delegate answers to the session.
@Suite(.timeLimit(.minutes(5))) struct DelegateForwardingTests {
    private let tx = TransactionManager.testing()
    private let scene: DelegateScene

    init() throws { scene = try DelegateScene() }

    @Test(arguments: DelegateRequirement.all) func everyMethodIsForwardedAndItsAnswerBack(
        requirement: DelegateRequirement
    ) {
        let (alone, behind) = (RecordingDelegate(), RecordingDelegate())
        let direct = requirement.call(alone, scene)
        let captured = requirement.call(tx.capturing(behind), scene)
        #expect(alone.called == [requirement.name])
        #expect(behind.called == alone.called)
        #expect(captured == direct)
    }

    /// Breaks when a newer Foundation can call a method that is not forwarded.
    @Test func everyMethodOfTheDelegateProtocolsIsListed() throws {
        let folder = try TemporaryDirectory()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        #if arch(arm64)
        let target = "aarch64-unknown-linux-gnu"
        #else
        let target = "x86_64-unknown-linux-gnu"
        #endif
        process.arguments = [
            "swift", "symbolgraph-extract", "-module-name", "FoundationNetworking", "-target", target, "-output-dir",
            folder.url.path,
        ]
        try process.run()
        process.waitUntilExit()
        let bytes = try Data(contentsOf: folder.file("FoundationNetworking.symbols.json"))
        let listed = try JSONDecoder().decode(SymbolGraph.self, from: bytes).delegateMethods
        #expect(listed.sorted() == DelegateRequirement.all.map(\.name).sorted())
    }

    @Test(arguments: DelegateRequirement.all) func whatADelegateDoesNotHaveIsAnsweredAsTheProtocolDoes(
        requirement: DelegateRequirement
    ) {
        let byDefault = requirement.call(Defaults(), scene)
        #expect(requirement.call(tx.capturing(Plain()), scene) == (byDefault ?? answerOfADelayedRequest(requirement)))
        #expect(requirement.call(tx.capturing(nil), scene) == (byDefault ?? answerOfADelayedRequest(requirement)))
        #expect(requirement.call(tx.capturing(Defaults()), scene) == byDefault)
    }

    /// The only default that leaves the session without an answer.
    private func answerOfADelayedRequest(_ requirement: DelegateRequirement) -> String? {
        requirement.name.contains("willBeginDelayedRequest") ? "continueLoading, nil" : nil
    }

    @Test func theDelegateLivesAsLongAsTheCapturingOne() {
        weak var released: RecordingDelegate?
        do {
            let capturing = tx.capturing(RecordingDelegate())
            released = capturing.delegate as? RecordingDelegate
            #expect(released != nil)
        }
        #expect(released == nil)
    }
}

/// Declares only the protocol that a delegate must have.
private final class Plain: NSObject, URLSessionDelegate, Sendable {}

/// Declares every protocol and implements only the required methods, without code.
private final class Defaults: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, URLSessionStreamDelegate,
    URLSessionWebSocketDelegate, Sendable
{
    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    }
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {}
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    ) {}
}

/// The compiler's description of a module.
private struct SymbolGraph: Decodable {
    struct Symbol: Decodable {
        struct Kind: Decodable { var identifier: String }
        struct Extension: Decodable {}
        var kind: Kind
        var pathComponents: [String]
        var swiftExtension: Extension?
    }

    var symbols: [Symbol]

    /// The requirements of `URLSession...Delegate`, without their defaults.
    var delegateMethods: [String] {
        symbols.filter {
            $0.kind.identifier == "swift.method" && $0.swiftExtension == nil
                && $0.pathComponents.first?.hasPrefix("URLSession") == true
                && $0.pathComponents.first?.hasSuffix("Delegate") == true
        }.map { $0.pathComponents.joined(separator: ".") }
    }
}
#endif
