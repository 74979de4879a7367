#if canImport(Testing)
public import Testing
public import Waybill
import Foundation
import WaybillCore
import WaybillExport

/// A trait that gives each test a manager of its own, and shows what was recorded when the test fails.
///
/// ## Usage
///
/// ```swift
/// @Test(.waybill) func aWrongPasswordFails() async {
///     let transactions = TransactionManager.ofTest
///     await LoginModel(transactions: transactions).logIn()
///     #expect(transactions.outcome(Login.self) == .failed)
/// }
/// ```
///
/// When the test records an issue or throws, its manager's HTML report (`waybill.html`) and its requests
/// (`waybill.har`) are attached to it. On a suite, each of its tests gets a manager of its own.
public struct WaybillTrait: TestTrait, SuiteTrait, TestScoping {
    /// What a test with the trait works with.
    fileprivate struct Scope: Sendable {
        var transactions: TransactionManager
        var clock: ManualClock
    }

    @TaskLocal fileprivate static var scope: Scope?

    private let correlatedHosts: [String]
    private let options: TransactionManager.Options?
    private let attach: @Sendable (_ file: [UInt8], _ name: String) -> Void

    package init(
        correlatedHosts: [String] = [], options: TransactionManager.Options? = nil,
        attach: @escaping @Sendable (_ file: [UInt8], _ name: String) -> Void = { Attachment.record($0, named: $1) }
    ) {
        self.correlatedHosts = correlatedHosts
        self.options = options
        self.attach = attach
    }

    /// Whether the tests of a suite get it, too: each a manager of its own.
    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let clock = ManualClock()
        let transactions = TransactionManager.testing(
            clock: clock, correlatedHosts: correlatedHosts, options: options)
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

    /// Attaches what can be made: there is no report where nothing was recorded.
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
    /// Gives the test a manager of its own, ``Waybill/TransactionManager/ofTest``.
    public static var waybill: Self { WaybillTrait() }

    /// Gives the test a manager of its own, with these settings.
    ///
    /// - Parameters:
    ///   - correlatedHosts: The hosts whose requests carry the header field.
    ///   - options: Options that most tests leave at their defaults; `nil` for those of
    ///     ``Waybill/TransactionManager/testing(clock:delivery:correlatedHosts:options:)``.
    public static func waybill(correlatedHosts: [String], options: TransactionManager.Options? = nil) -> Self {
        WaybillTrait(correlatedHosts: correlatedHosts, options: options)
    }
}

extension TransactionManager {
    /// The manager of the current test, made by the trait ``WaybillTesting/WaybillTrait``.
    ///
    /// Outside such a test, and in `Task.detached`, it records an issue and returns ``TransactionManager/disabled``.
    public static var ofTest: TransactionManager {
        if let scope = WaybillTrait.scope { return scope.transactions }
        Issue.record("There is no manager here: give the test the trait `.waybill`, and don't ask in `Task.detached`.")
        return .disabled
    }
}

extension ManualClock {
    /// The clock of the current test's manager, made by the trait ``WaybillTrait``.
    ///
    /// Outside such a test, and in `Task.detached`, it records an issue and returns a clock of its own.
    public static var ofTest: ManualClock {
        if let scope = WaybillTrait.scope { return scope.clock }
        Issue.record("There is no clock here: give the test the trait `.waybill`, and don't ask in `Task.detached`.")
        return ManualClock()
    }
}
#endif
