/// Which sources a list shows, and in which order; every condition that is set must hold.
public struct SourceFilter: Hashable, Sendable {
    /// The app's or service's name; nil: any.
    public var app: String?
    /// Words, each found in any case in the app, its version, the device, the system, its version or the source's ID;
    /// nil: any.
    public var text: String?
    /// Which one is in front. Default: the one that was heard first.
    public var order = Order.oldest

    /// Of when sources were heard of.
    public enum Order: String, Sendable, CaseIterable {
        /// The one that was heard first in front.
        case oldest
        /// The one that was heard last in front; those that record into this very store come before all others, the
        /// latest first.
        case newest
    }

    /// A filter that lets everything through.
    public init() {}
}
