import WaybillAtomics
public import WaybillCore

/// A place where a transaction is current, inside of those around it: all of them are one chain, the innermost first.
///
/// The library keeps the chain in a task-local value. What has a context of its own that goes where task-local values do
/// not, or cannot put a closure around what it starts, carries a scope in that context, and says once where to find it:
/// as the spans of `WaybillTracing` do.
///
/// ## Usage
///
/// ```swift
/// TransactionScope.carry { RequestContext.current?.scope }     // once, at start-up
/// context.scope = TransactionScope(login)                       // current wherever this context is
/// ```
public struct TransactionScope: Sendable {
    /// What `perform` and `makingCurrent` have put around the current task.
    @TaskLocal static var ofTask: TransactionScope?

    private static let carriers = Carriers()

    private let place: Place

    private final class Place: Sendable {
        let part: OpenPart
        let outer: Place?
        /// When the part was made current here, where that was after its end.
        let start: Int64?

        init(_ part: OpenPart, inside outer: Place?) {
            (self.part, self.outer, start) = (part, outer, part.uptimeIfClosed)
        }

        var isOver: Bool { part.isOver(since: start) }
    }

    /// One of a list that only grows: it is read wherever somebody asks what is current, without a lock.
    private final class Carrier: Sendable {
        let scope: @Sendable () -> TransactionScope?
        let next = Carriers()

        init(_ scope: @escaping @Sendable () -> TransactionScope?) { self.scope = scope }
    }

    /// The rest of that list: its first one, none at first.
    private struct Carriers: ~Copyable, Sendable {
        /// The address of one that is kept alive for good.
        private let address = Atomic<UInt>(0)

        var first: Carrier? { Self.carrier(address.load(ordering: .acquiring)) }

        /// - Returns: The one that is there then, if another thread was faster.
        func begin(with carrier: Carrier) -> Carrier {
            let kept = Unmanaged.passRetained(carrier)
            let (isFirst, found) = address.compareExchange(expected: 0, desired: UInt(bitPattern: kept.toOpaque()))
            if !isFirst { kept.release() }
            return Self.carrier(isFirst ? 0 : found) ?? carrier
        }

        private static func carrier(_ address: UInt) -> Carrier? {
            UnsafeRawPointer(bitPattern: address).map { Unmanaged<Carrier>.fromOpaque($0).takeUnretainedValue() }
        }
    }

    /// Makes one of a transaction, inside of what is current here; it is current where it is carried.
    public init<Event>(_ transaction: UseCaseTransaction<Event>) { self.init(transaction.part) }

    package init(_ part: OpenPart) { place = Place(part, inside: Self.current?.place) }

    private init(place: Place) { self.place = place }

    /// The innermost scope; nil outside any transaction.
    ///
    /// A carried one counts unless something became current inside of it: `perform` inside a span wins over the span,
    /// and a span inside `perform` keeps its transaction.
    ///
    /// A part that has ended stays current for a minute, for the tasks that it has started; then the one around it is,
    /// if there is one.
    public static var current: TransactionScope? { inherited?.live }

    /// As ``current``, ended or not.
    private static var inherited: TransactionScope? {
        var current = ofTask
        var carrier = carriers.first
        while let here = carrier {
            current = here.scope()?.innermost(beside: current) ?? current
            carrier = here.next.first
        }
        return current
    }

    /// What is current where a context carries this scope that is not the current one.
    package static func current(carrying scope: TransactionScope?) -> TransactionScope? {
        (scope?.innermost(beside: ofTask) ?? ofTask)?.live
    }

    /// Without the parts that ended too long ago.
    private var live: TransactionScope? {
        firstPlace { !$0.isOver }.map { $0 === place ? self : TransactionScope(place: $0) }
    }

    /// Counts that something asked for a transaction which the current task inherited, and which ended too long ago.
    ///
    /// - Returns: Whether there is one.
    static func noteEnded(where isMeant: (OpenPart) -> Bool) -> Bool {
        guard let part = inherited?.firstPlace(where: { $0.isOver && isMeant($0.part) })?.part else { return false }
        part.source?.note(.afterEnd, about: part.useCase)
        return true
    }

    /// This one, unless the other was made inside of it.
    private func innermost(beside other: TransactionScope?) -> TransactionScope {
        guard let other, other.firstPlace(where: { $0 === place }) != nil else { return self }
        return other
    }

    /// Whether a part is current here, innermost or not.
    package func contains(_ part: OpenPart) -> Bool { firstPlace { $0.part === part } != nil }

    /// Its transaction, whatever the use case.
    public var transaction: UseCaseTransaction<Int> { UseCaseTransaction(part: part) }

    /// Says where a scope is carried besides the current task, for as long as the process lives: once for each kind of
    /// context.
    ///
    /// - Parameter scope: Called wherever the library asks what is current, on any thread; gives the scope of the
    ///   context that is current there, nil where there is none.
    public static func carry(_ scope: @escaping @Sendable () -> TransactionScope?) {
        let carrier = Carrier(scope)
        var last = carriers.begin(with: carrier)
        while last !== carrier { last = last.next.begin(with: carrier) }
    }

    package var part: OpenPart { place.part }

    /// The innermost part; nil outside any transaction.
    package static var innermost: OpenPart? { current?.part }

    /// The innermost part for which something holds; nil where there is none.
    static func innermost(where holds: (OpenPart) -> Bool) -> OpenPart? {
        current?.firstPlace(where: { !$0.isOver && holds($0.part) })?.part
    }

    private func firstPlace(where holds: (Place) -> Bool) -> Place? {
        var candidate: Place? = place
        while let here = candidate, !holds(here) { candidate = here.outer }
        return candidate
    }
}

extension UseCase {
    /// The transaction of this use case that the current task works for; nil outside one.
    ///
    /// Found anywhere below `perform`, and in the handlers below a server's middleware, without passing the handle
    /// along:
    ///
    /// ```swift
    /// Login.current?.log(.serverStarted)
    /// ```
    public static var current: UseCaseTransaction<Self>? {
        // A code may be shared by mistake, which is known once the names of both use cases are.
        guard let nearest = TransactionScope.innermost(where: { $0.useCase == code }) else {
            _ = TransactionScope.noteEnded { $0.useCase == code }
            return nil
        }
        nearest.source?.note(Self.self)
        return TransactionScope.innermost { $0.isOf(Self.self) }.map { UseCaseTransaction(part: $0) }
    }
}

extension UseCaseTransaction where Event == Int {
    /// The innermost transaction that the current task works for, whatever its use case; nil outside any.
    ///
    /// For what knows no use case, as a log handler:
    ///
    /// ```swift
    /// UseCaseTransaction.current?.log(named: "cache miss")
    /// ```
    public static var current: UseCaseTransaction<Int>? { TransactionScope.current?.transaction }
}

/// The transaction below which another one is begun.
///
/// A child is a transaction of its own, with its own outcome and timeout; its parent may have ended already.
///
/// ## Usage
///
/// ```swift
/// let payment = transactions.begin(Payment.self, parent: .transaction(checkout))
/// let sync = transactions.begin(Sync.self, parent: nil)
/// ```
public struct TransactionParent: Hashable, Sendable {
    let transaction: GUID
    /// The topmost one above the child, as far as this process knows.
    let root: GUID
    /// The trace that both belong to.
    let trace: GUID
    /// What other vendors say of that trace; `nil` if none does.
    let otherVendors: String?
    /// The part that this process has in it, whose sequence is 0 where it was not recorded; nil: none is known.
    let part: FactID?

    /// The innermost transaction that the current task works for; nil outside of any.
    public static var current: TransactionParent? {
        // What was withheld, or found no room, is nobody's parent.
        TransactionScope.innermost { $0.sequence > 0 }.map { TransactionParent($0) }
    }

    /// One that this process takes part in, whether it is finished or not.
    ///
    /// What is begun below one that was not recorded stands by itself.
    public static func transaction<Event>(_ transaction: UseCaseTransaction<Event>) -> TransactionParent {
        TransactionParent(transaction.part)
    }

    /// One by its ID, e.g. as it was remembered from an earlier launch; it need not be known here.
    public static func id(_ id: GUID) -> TransactionParent {
        TransactionParent(transaction: id, root: id, trace: id, otherVendors: nil, part: nil)
    }

    private init(_ part: OpenPart) {
        self.init(
            transaction: part.transaction, root: part.root, trace: part.trace,
            otherVendors: part.otherVendors,
            part: FactID(source: part.source?.id ?? part.transaction, sequence: part.sequence))
    }

    private init(transaction: GUID, root: GUID, trace: GUID, otherVendors: String?, part: FactID?) {
        self.transaction = transaction
        self.root = root
        self.trace = trace
        self.otherVendors = otherVendors
        self.part = part
    }
}

/// What the header fields of an incoming request say of its transaction. None of it is trusted.
struct IncomingTransaction {
    var transaction: GUID
    /// nil: not told.
    var useCase: Int?
    /// The exchange that carries it; nil: not told.
    var cause: FactID?
    /// nil: not told, or not asked for.
    var traceParent: TraceParent?

    init(_ header: TransactionHeader, traceParent: TraceParent? = nil) {
        (transaction, useCase, cause) = (header.transaction, header.useCase, header.cause)
        self.traceParent = traceParent
    }

    /// By W3C Trace Context alone; nil where the trace's ID cannot be a transaction's.
    init?(_ traceParent: TraceParent, state: String?) {
        guard traceParent.trace.isVersion7 else { return nil }
        transaction = traceParent.trace
        useCase = state.flatMap(TraceState.useCase)
        self.traceParent = traceParent
    }

    /// What is recorded of the trace: nothing where it says no more than the cause.
    var link: Attributes {
        guard let traceParent, cause.map({ SpanID($0) }) != traceParent.parent else { return [:] }
        return [TraceParent.fieldName: traceParent.description]
    }

    /// Whether a part was joined for the same request.
    func isJoined(by part: OpenPart, useCase: Int) -> Bool {
        part.isJoined && part.transaction == transaction && part.cause == cause && part.traceParent == traceParent
            && part.useCase == useCase
    }
}

/// Decides which requests may join a transaction: a header field can be made up by anybody, as often as they like.
final class JoinGate: Sendable {
    private struct State {
        /// How often transactions were joined: of late, and of those that were not, before; each is bounded.
        var recent: [GUID: Int] = [:]
        var earlier: [GUID: Int] = [:]
        /// When those so far would have come at the steady rate, in microseconds of the clock that never goes back.
        var due = Int64.min

        mutating func note(_ transaction: GUID, _ count: Int) {
            if recent.count == JoinGate.memory, recent[transaction] == nil { (earlier, recent) = (recent, [:]) }
            recent[transaction] = count
        }
    }

    /// Transactions that are remembered at least, once so many were joined.
    static let memory = 8_192
    /// Requests of one transaction: no collector takes more parts of one.
    static let requestLimit = 1_000
    private static let tolerance: Int64 = 60_000_000

    private let useCases: Set<Int>?
    /// Microseconds from one transaction to the next at the steady rate; nil: none may be joined.
    private let interval: Int64?
    private let state = Locked(State())

    /// - Parameters:
    ///   - useCases: Those that a header field may name; nil: any.
    ///   - perMinute: Transactions that are not known yet, at a steady rate or all of a minute's at once.
    init(useCases: Set<Int>?, perMinute: Int) {
        self.useCases = useCases
        interval = perMinute > 0 ? Self.tolerance / Int64(perMinute) : nil
    }

    /// Whether the use case that a header field names may be believed.
    func knows(useCase: Int) -> Bool { useCases?.contains(useCase) ?? true }

    /// Whether there is room for one more request of a transaction. One that was joined lately has some of its own; any
    /// other gets it by the generic cell rate algorithm (ITU-T I.371).
    ///
    /// - Parameter now: Microseconds of a clock that never goes back.
    func admits(_ transaction: GUID, now: Int64) -> Bool {
        state.withLock { state in
            if let count = state.recent[transaction] ?? state.earlier[transaction] {
                guard count < Self.requestLimit else { return false }
                state.note(transaction, count + 1)
                return true
            }
            guard let interval else { return false }
            let next = max(state.due, now)
            guard next - now + interval <= Self.tolerance else { return false }
            state.due = next + interval
            state.note(transaction, 1)
            return true
        }
    }
}
