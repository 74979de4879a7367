#if canImport(Testing)
public import Testing
public import Waybill
import Foundation
import WaybillCore
import WaybillExport

/// A trait that gives each test its own manager, and attaches the recording to a failed test.
///
/// ## Usage
///
/// ```swift
/// @Test(.waybill) func aWrongPasswordFails() async throws {
///     let transactions = TransactionManager.ofTest
///     await LoginModel(transactions: transactions).logIn()
///     #expect(try transactions.last(Login.self)?.outcome == .failed)
/// }
/// ```
///
/// If the test records an issue or throws, the attachments are an HTML report (`waybill.html`) and the requests
/// (`waybill.har`). On a suite, each test gets its own manager.
public struct WaybillTrait: TestTrait, SuiteTrait, TestScoping {
    fileprivate struct Scope: Sendable {
        var transactions: TransactionManager
        var clock: ManualClock
    }

    @TaskLocal fileprivate static var scope: Scope?

    private let correlatedHosts: [String]
    private let configure: @Sendable (inout TransactionManager.Options) -> Void
    private let attach: @Sendable (_ file: [UInt8], _ name: String) -> Void

    package init(
        correlatedHosts: [String] = [],
        configure: @escaping @Sendable (inout TransactionManager.Options) -> Void = { _ in },
        attach: @escaping @Sendable (_ file: [UInt8], _ name: String) -> Void = { Attachment.record($0, named: $1) }
    ) {
        self.correlatedHosts = correlatedHosts
        self.configure = configure
        self.attach = attach
    }

    /// Whether each test of a suite gets the trait: true.
    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let clock = ManualClock()
        let transactions = TransactionManager.testing(
            clock: clock, correlatedHosts: correlatedHosts, configure: configure)
        let hasFailed = Locked(false)
        let watching = IssueHandlingTrait.compactMapIssues { issue in
            hasFailed.withLock { $0 = true }
            return issue
        }
        do {
            try await Self.$scope.withValue(Scope(transactions: transactions, clock: clock)) {
                try await watching.provideScope(for: test, testCase: testCase, performing: function)
            }
        } catch {
            await attachFiles(of: transactions)
            throw error
        }
        if hasFailed.withLock({ $0 }) { await attachFiles(of: transactions) }
    }

    private func attachFiles(of transactions: TransactionManager) async {
        let folder = FileManager.default.temporaryDirectory.appending(path: "waybill-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let (report, requests) = (folder.appending(path: "waybill.html"), folder.appending(path: "waybill.har"))
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try await transactions.report(to: report)
            try await transactions.export(as: .har, to: requests)
        } catch {}  // a test that sends nothing has no requests
        for file in [report, requests] {
            if let data = try? Data(contentsOf: file) { attach([UInt8](data), file.lastPathComponent) }
        }
    }
}

extension Trait where Self == WaybillTrait {
    /// Gives the test its own manager, ``Waybill/TransactionManager/ofTest``.
    public static var waybill: Self { WaybillTrait() }

    /// Gives the test its own manager, with these settings.
    ///
    /// - Parameters:
    ///   - correlatedHosts: The hosts whose requests carry the header field.
    ///   - configure: A closure that changes options, which most tests leave at the defaults of
    ///     ``Waybill/TransactionManager/testing(clock:delivery:correlatedHosts:configure:)``.
    public static func waybill(
        correlatedHosts: [String], configure: @escaping @Sendable (inout TransactionManager.Options) -> Void = { _ in }
    ) -> Self {
        WaybillTrait(correlatedHosts: correlatedHosts, configure: configure)
    }
}

extension TransactionManager {
    /// The manager of the current test, created by the trait ``WaybillTesting/WaybillTrait``.
    ///
    /// Outside such a test, and in `Task.detached`, this records an issue and returns ``TransactionManager/disabled``.
    public static var ofTest: TransactionManager {
        if let scope = WaybillTrait.scope { return scope.transactions }
        Issue.record("There is no manager here: give the test the trait `.waybill`, and don't ask in `Task.detached`.")
        return .disabled
    }
}

extension ManualClock {
    /// The clock of the current test's manager, created by the trait ``WaybillTrait``.
    ///
    /// Outside such a test, and in `Task.detached`, this records an issue and returns a separate clock.
    public static var ofTest: ManualClock {
        if let scope = WaybillTrait.scope { return scope.clock }
        Issue.record("There is no clock here: give the test the trait `.waybill`, and don't ask in `Task.detached`.")
        return ManualClock()
    }
}
#endif
