/// How much of what was recorded a device keeps, and for how long.
///
/// Whole transactions go, the oldest first: those that were delivered before those that were not, and open ones last.
/// What was not delivered is counted and told to the collector as dropped. What is being delivered stays until the
/// collector has answered.
public struct Retention: Sendable, Hashable {
    /// The number of bytes that the store's rows, indexes and write-ahead log may take. Its files stop growing there.
    /// Default: 64 MiB, at least 1 MiB.
    public var maximumBytes: Int64 = 64 << 20
    /// How long after its last event a transaction is kept. Default: 30 days.
    ///
    /// Measured by a clock that cannot be set: within one boot of the device it is the time that has passed, asleep or
    /// not. Of transactions from earlier boots, those that were delivered go by the wall clock, too; those that were
    /// not go by the time that the device was seen running, which is never more than has really passed.
    public var maximumAge: Duration = .seconds(30 * 86_400)
    /// How many transactions are kept, exchanges outside of one not counted; nil, the default: as many as there is room
    /// for. At least 1.
    ///
    /// Of very many, up to a hundredth more may be there for a moment.
    public var maximumTransactions: Int?
    /// Whether transactions of earlier launches go as soon as they are delivered. Default: false.
    ///
    /// Those that are not delivered stay until they are, or until bytes or age say otherwise: what led to a crash is
    /// worth the most.
    public var isForThisLaunchOnly = false

    /// Below this the tables alone would not fit.
    package static let leastBytes: Int64 = 1 << 20

    /// The defaults.
    public init() {}

    /// Keeps what this launch records, and of earlier ones only what is still to be delivered.
    public static var thisLaunchOnly: Retention {
        var retention = Retention()
        retention.isForThisLaunchOnly = true
        return retention
    }
}
