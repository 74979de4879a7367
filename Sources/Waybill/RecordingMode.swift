/// Whether a manager records.
public enum RecordingMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// What happens is recorded.
    case on
    /// Nothing is: handles do nothing, requests are sent as they are.
    case off
}
