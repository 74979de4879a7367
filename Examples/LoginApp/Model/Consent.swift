public import Foundation
public import Observation
public import Waybill

/// The user's answer to the question whether the app may record. The app asks once, and the user can change the answer.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
@MainActor @Observable public final class Consent {
    /// The answer; `nil` until the user has answered.
    public private(set) var isGiven: Bool?

    private let transactions: TransactionManager
    private let defaults: UserDefaults
    private static let key = "recordingConsent"

    /// - Parameter defaults: The place of the answer. The manager itself remembers whether recording is on.
    public init(transactions: TransactionManager, defaults: UserDefaults = .standard) {
        self.transactions = transactions
        self.defaults = defaults
        isGiven = defaults.object(forKey: Self.key) as? Bool
    }

    /// The answer for a switch, which is off until the user has answered.
    public var isRecording: Bool {
        get { isGiven == true }
        set { answer(newValue) }
    }

    public func answer(_ isGiven: Bool) {
        self.isGiven = isGiven
        defaults.set(isGiven, forKey: Self.key)
        transactions.recording = isGiven ? .on : .off
    }
}
