public import Foundation
public import Observation
public import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What the login screen does, without a word of SwiftUI.
///
/// The transaction begins when the form is shown. Leaving the form lets go of it, which records that the login was
/// abandoned; an attempt that fails ends it, and the next key begins another one.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
@MainActor @Observable public final class LoginForm {
    /// Where the form stands.
    public enum Phase: Hashable, Sendable {
        case filling, sending, loggedIn
        /// With what to tell the user.
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

    /// - Parameter server: Takes `POST /login`, with 200 for who may come in.
    public init(transactions: TransactionManager, server: URL) {
        self.transactions = transactions
        self.server = server
    }

    public func appear() {
        guard login == nil, phase != .loggedIn else { return }
        (login, isFilling) = (transactions.begin(Login.self), false)
        login?.log(.initiated)
    }

    public func disappear() { login = nil }

    /// The first key of either field. How long the form takes is the time from here to ``submit()``.
    private func noteFilling() {
        if case .failed = phase { phase = .filling }
        appear()
        guard !isFilling else { return }
        isFilling = true
        login?.log(.fillingBegan)
    }

    public func submit() async {
        guard canSubmit, let login else { return }
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
