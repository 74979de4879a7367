public import Foundation
public import Observation
public import Waybill

/// Whether the user lets the app record: asked once, and to be taken back at any time.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
@MainActor @Observable public final class Consent {
    /// nil until the user has answered.
    public private(set) var isGiven: Bool?

    private let transactions: TransactionManager
    private let defaults: UserDefaults
    private static let key = "recordingConsent"

    /// - Parameter defaults: Where the answer is kept. That recording is on the manager remembers by itself.
    public init(transactions: TransactionManager, defaults: UserDefaults = .standard) {
        self.transactions = transactions
        self.defaults = defaults
        isGiven = defaults.object(forKey: Self.key) as? Bool
    }

    /// For a switch: off until the user has answered.
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
