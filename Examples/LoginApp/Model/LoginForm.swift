public import Foundation
public import Observation
public import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The model of the login screen, which doesn't import SwiftUI.
///
/// The transaction begins when the form appears, or when the user agrees to recording. Leaving the form releases it, which
/// records that the login was abandoned. A failed attempt ends it, and the next key or tap begins another one.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
@MainActor @Observable public final class LoginForm {
    /// The progress of the form.
    public enum Phase: Hashable, Sendable {
        case filling, sending, loggedIn
        /// The message for the user.
        case failed(String)
    }

    public var user = "" { didSet { if user != oldValue { noteFilling() } } }
    public var password = "" { didSet { if password != oldValue { noteFilling() } } }
    public private(set) var phase = Phase.filling
    public var canSubmit: Bool { !user.isEmpty && !password.isEmpty && phase != .sending }

    private let transactions: TransactionManager
    private let server: URL
    @ObservationIgnored private var login: UseCaseTransaction<Login>?
    @ObservationIgnored private var isFilling = false
    /// Whether `login` is recorded. A transaction that began while recording was off stays unrecorded.
    @ObservationIgnored private var mode: RecordingHealth.Mode?

    /// - Parameter server: A server that answers `POST /login` with 200 for a login.
    public init(transactions: TransactionManager, server: URL) {
        self.transactions = transactions
        self.server = server
    }

    /// Begins a login, unless one has begun. Call it when the form appears, and when the user answers the question whether
    /// to record.
    public func appear() {
        let now = transactions.recording
        guard phase != .loggedIn, phase != .sending, login == nil || mode != now else { return }
        (login, mode, isFilling) = (transactions.begin(Login.self), now, false)
        login?.log(.initiated)
    }

    /// Abandons the login. Call it when the user leaves the form for good, not when a sheet covers it.
    public func disappear() { login = nil }

    /// Records the first key of either field. The time to fill in the form lasts from here to ``submit()``.
    private func noteFilling() {
        if case .failed = phase { phase = .filling }
        appear()
        guard !isFilling else { return }
        isFilling = true
        login?.log(.fillingBegan)
    }

    public func submit() async {
        guard canSubmit else { return }
        // After a failure, each tap is another login.
        appear()
        guard let login else { return }
        phase = .sending
        login.log(.submitted)
        do {
            let request = try request()
            try await login.perform { login in
                login.log(.requestSent)
                _ = try await transactions.session.data(for: request, requiring: 200..<300)
                login.log(.responseReceived)
            }
            phase = .loggedIn
        } catch is RecordedError {
            phase = .failed("Name or password is wrong. Tell support: \(login.supportCode)")
        } catch {
            phase = .failed("That did not work. Tell support: \(login.supportCode)")
        }
        self.login = nil
    }

    private func request() throws -> URLRequest {
        var request = URLRequest(url: server.appending(path: "login"))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(["user": user, "password": password])
        return request
    }
}
