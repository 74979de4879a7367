import WaybillCore
import WaybillStore

/// What the attempts so far have taught: a circuit breaker, which costs nothing to ask.
///
/// Closed, everything goes out. A failure opens it for a time, and then one set tries whether it may close again.
struct DeliveryGate {
    /// How large sets may be.
    private(set) var limit = LeaseLimit()
    /// Why nothing goes out until there is another delivery; nil: nothing of the kind.
    var refusal: WaybillError?
    /// Nothing goes out by itself before that, in microseconds of the device's uptime.
    private(set) var heldUntil: Int64 = 0
    /// Whether the other side asked for that: then flushes that were asked for wait, too.
    private(set) var wasAskedFor = false
    private(set) var failureCount = 0
    /// Whether the delivery was just replaced: what the store remembers of the one before does not count.
    private(set) var isForNewDelivery: Bool

    init(isForNewDelivery: Bool = false) { self.isForNewDelivery = isForNewDelivery }

    /// Why nothing may go out now; nil: it may.
    ///
    /// - Parameter isAsked: Whether the flush was asked for: then it does not wait for a pause that is only a guess of
    ///   ours.
    func blockingError(at uptime: Int64, isAsked: Bool) -> WaybillError? {
        if let refusal { return refusal }
        guard uptime < heldUntil, wasAskedFor || !isAsked else { return nil }
        let seconds = (heldUntil - uptime + 999_999) / 1_000_000
        let why =
            wasAskedFor
            ? "The collector asked to be left alone for another \(seconds) seconds"
            : "Delivery failed \(failureCount) times in a row, and is tried again by itself in \(seconds) seconds"
        return WaybillError(.transport, "\(why); the facts stay pending.")
    }

    /// Takes over what another launch, or another process on the same store, has learned.
    mutating func learn(_ pause: DeliveryPause?, at uptime: Int64) {
        isForNewDelivery = false
        failureCount = pause?.failureCount ?? 0
        heldUntil = pause.map { uptime + $0.remainingMicroseconds } ?? 0
        wasAskedFor = pause?.wasAskedFor ?? false
    }

    /// Whether all went well the last time, and the store says so.
    var isClosed: Bool { failureCount == 0 && heldUntil == 0 }

    /// The pause that a failure asks for.
    ///
    /// - Parameter time: What the other side said; nil, or none at all: nothing.
    func pause(afterFailure time: Duration?, using generator: inout some RandomNumberGenerator) -> DeliveryPause {
        let asked = time.flatMap { $0 > .zero ? min($0, RetryAfter.longest) : nil }
        let wait = asked ?? Backoff().wait(afterFailures: failureCount + 1, using: &generator)
        return DeliveryPause(
            failureCount: failureCount + 1, remainingMicroseconds: wait.microseconds, wasAskedFor: asked != nil)
    }

    /// Halves the sets, because one of so many facts was too large.
    mutating func lessen(from factCount: Int) { limit.factCount = max(1, factCount / 2) }

    /// Smallest sets that were refused one after the other.
    private var refusalCount = 0
    /// Beyond this, something else than a fact is refused: what is left waits.
    private static let refusalLimit = 20

    /// Whether a smallest set that is refused may be settled as such, so that the rest goes on.
    var mayRefuse: Bool { refusalCount < Self.refusalLimit }

    /// Lets sets be of full size again, because the one fact that was refused is out of the way. Not yet where one follows
    /// the other: to find each by halving would take a dozen requests.
    mutating func noteRefusal() {
        refusalCount += 1
        if refusalCount == 1 { limit = LeaseLimit() }
    }

    /// Lets sets be of full size again where the facts that were refused are out of the way.
    mutating func noteAcceptance() {
        if refusalCount > 1 { limit = LeaseLimit() }
        refusalCount = 0
    }
}
