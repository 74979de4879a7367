import WaybillAtomics
public import WaybillCore

/// A place where a transaction is current. Scopes nest and form a chain, the innermost first.
///
/// Waybill keeps the chain in a task-local value. If your context travels where task-local values do not, store a scope
/// in it and register it once, as the spans of `WaybillTracing` do.
///
/// ## Usage
///
/// ```swift
/// TransactionScope.carry { RequestContext.current?.scope }     // once, at start-up
/// context.scope = TransactionScope(login)                       // current wherever this context is
/// ```
public struct TransactionScope: Sendable {
    @TaskLocal static var ofTask: TransactionScope?

    private static let carriers = Carriers()

    private let place: Place

    private final class Place: Sendable {
        let part: OpenPart
        let outer: Place?
        /// The time at which the part became current here, if it had already ended.
        let start: Int64?

        init(_ part: OpenPart, inside outer: Place?) {
            (self.part, self.outer, start) = (part, outer, part.uptimeIfClosed)
        }

        var isOver: Bool { part.isOver(since: start) }
    }

    /// The list only grows, to be read without a lock.
    private final class Carrier: Sendable {
        let scope: @Sendable () -> TransactionScope?
        let next = Carriers()

        init(_ scope: @escaping @Sendable () -> TransactionScope?) { self.scope = scope }
    }

    private struct Carriers: ~Copyable, Sendable {
        private let address = Atomic<UInt>(0)

        var first: Carrier? { Self.carrier(address.load(ordering: .acquiring)) }

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

    /// Creates a scope for a transaction, inside the current scope.
    public init(_ transaction: any TransactionHandle) { self.init(transaction.untyped.part) }

    package init(_ part: OpenPart) { place = Place(part, inside: Self.current?.place) }

    private init(place: Place) { self.place = place }

    /// The innermost scope; `nil` outside any transaction.
    ///
    /// A carried scope counts unless another scope was opened inside it: `perform` inside a span wins over the span. An
    /// ended part stays current for a minute, for the tasks that it started.
    public static var current: TransactionScope? { inherited?.live }

    private static var inherited: TransactionScope? {
        var current = ofTask
        var carrier = carriers.first
        while let here = carrier {
            current = here.scope()?.innermost(beside: current) ?? current
            carrier = here.next.first
        }
        return current
    }

    package static func current(carrying scope: TransactionScope?) -> TransactionScope? {
        (scope?.innermost(beside: ofTask) ?? ofTask)?.live
    }

    private var live: TransactionScope? {
        firstPlace { !$0.isOver }.map { $0 === place ? self : TransactionScope(place: $0) }
    }

    static func noteEnded(where isMeant: (OpenPart) -> Bool) -> Bool {
        guard let part = inherited?.firstPlace(where: { $0.isOver && isMeant($0.part) })?.part else { return false }
        part.source?.note(.afterEnd, about: part.useCase)
        return true
    }

    private func innermost(beside other: TransactionScope?) -> TransactionScope {
        guard let other, other.firstPlace(where: { $0 === place }) != nil else { return self }
        return other
    }

    package func contains(_ part: OpenPart) -> Bool { firstPlace { $0.part === part } != nil }

    /// The scope's transaction, whatever its use case.
    public var transaction: UseCaseTransaction<Int> { UseCaseTransaction(part: part) }

    /// Registers a closure that returns the scope of another kind of context, or `nil`. Waybill calls it on any thread.
    public static func carry(_ scope: @escaping @Sendable () -> TransactionScope?) {
        let carrier = Carrier(scope)
        var last = carriers.begin(with: carrier)
        while last !== carrier { last = last.next.begin(with: carrier) }
    }

    package var part: OpenPart { place.part }

    package static var innermost: OpenPart? { current?.part }

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
    /// The current task's innermost transaction of this use case; `nil` if there is none.
    ///
    /// ```swift
    /// Login.current?.set(basket.count, forKey: "items")
    /// ```
    public static var current: UseCaseTransaction<Self>? {
        // Two use cases may share a code by mistake. Waybill can tell once it knows both of their names.
        guard let nearest = TransactionScope.innermost(where: { $0.useCase == code }) else {
            _ = TransactionScope.noteEnded { $0.useCase == code }
            return nil
        }
        nearest.source?.note(Self.self)
        return TransactionScope.innermost { $0.isOf(Self.self) }.map { UseCaseTransaction(part: $0) }
    }

    /// Records an event of the current transaction of this use case. Never blocks or throws.
    ///
    /// ```swift
    /// Login.log(.serverStarted)
    /// ```
    ///
    /// Without a current transaction it returns `.off`. A debug build then says so on standard error, once for each use
    /// case.
    @inlinable
    @discardableResult
    public static func log(
        _ event: Self, error: (any Error)? = nil, attributes: Attributes = Attributes()
    ) -> LogResult {
        recording?.log(event, error: error, attributes: attributes) ?? .off
    }

    /// Records an event of the current transaction with an error code, such as an HTTP status.
    @inlinable
    @discardableResult
    public static func log(_ event: Self, code: Int, attributes: Attributes = Attributes()) -> LogResult {
        recording?.log(event, code: code, attributes: attributes) ?? .off
    }

    @inlinable static var recording: UseCaseTransaction<Self>? {
        let current = current
        if current == nil, TransactionManager.isDebugBuild { _ = MissingTransactions.note(Self.self) }
        return current
    }
}

@usableFromInline
enum MissingTransactions {
    private static let known = Locked<Set<ObjectIdentifier>>([])

    /// Returns whether this was the first time for the use case.
    @usableFromInline static func note<U: UseCase>(_ useCase: U.Type) -> Bool {
        guard known.withLock({ $0.insert(ObjectIdentifier(U.self)).inserted }) else { return false }
        TransactionManager.Options().diagnostics(
            "`\(U.self).log` recorded nothing, because no transaction of it is current. Call it inside `perform` or `withCurrent`."
        )
        return true
    }
}

extension UseCaseTransaction where Event == Int {
    /// The current task's innermost transaction, for code that knows no use case, such as a log handler.
    ///
    /// ```swift
    /// UseCaseTransaction.current?.log(named: "cache miss")
    /// ```
    public static var current: UseCaseTransaction<Int>? { TransactionScope.current?.transaction }
}

/// The parent of a new transaction.
///
/// A child is a separate transaction with its own outcome and timeout. Its parent may have ended already.
///
/// ## Usage
///
/// ```swift
/// let payment = transactions.begin(Payment.self, parent: .transaction(checkout))
/// let sync = transactions.begin(Sync.self, parent: nil)
/// ```
public struct TransactionParent: Equatable, Sendable {
    let transaction: GUID
    let root: GUID
    let trace: GUID
    let otherVendors: String?
    /// This process's part in the parent; its sequence is 0 if it was not recorded. `nil` if no part is known.
    let part: FactID?

    /// The current task's innermost transaction; `nil` outside any.
    public static var current: TransactionParent? {
        // Children of an unrecorded transaction attach to its nearest recorded ancestor.
        TransactionScope.innermost { $0.sequence > 0 }.map(parent)
    }

    /// Returns a transaction of this process as the parent. A child of an unrecorded transaction has no parent.
    public static func transaction(_ transaction: any TransactionHandle) -> TransactionParent {
        parent(transaction.untyped.part)
    }

    /// Returns a parent by its ID, such as one from an earlier launch.
    public static func id(_ id: GUID) -> TransactionParent {
        TransactionParent(transaction: id, root: id, trace: id, otherVendors: nil, part: nil)
    }

    private static func parent(_ part: OpenPart) -> TransactionParent {
        TransactionParent(
            transaction: part.transaction, root: part.root, trace: part.trace,
            otherVendors: part.otherVendors,
            part: FactID(source: part.source?.id ?? part.transaction, sequence: part.sequence))
    }
}

/// The contents of an incoming request's header fields, which are not trusted.
struct IncomingTransaction {
    var transaction: GUID
    var useCase: Int?
    var cause: FactID?
    var traceParent: TraceParent?

    init(_ header: TransactionHeader, traceParent: TraceParent? = nil) {
        (transaction, useCase, cause) = (header.transaction, header.useCase, header.cause)
        self.traceParent = traceParent
    }

    init?(_ traceParent: TraceParent, state: String?) {
        guard traceParent.trace.isVersion7 else { return nil }
        transaction = traceParent.trace
        useCase = state.flatMap(TraceState.useCase)
        self.traceParent = traceParent
    }

    /// Empty if it adds nothing to the cause.
    var link: Attributes {
        guard let traceParent, cause.map({ SpanID($0) }) != traceParent.parent else { return [:] }
        return [TraceParent.fieldName: traceParent.description]
    }

    func isJoined(by part: OpenPart, useCase: Int) -> Bool {
        part.isJoined && part.transaction == transaction && part.cause == cause && part.traceParent == traceParent
            && part.useCase == useCase
    }
}

/// Limits the transactions that requests can join, since anyone can forge a header field.
final class JoinGate: Sendable {
    private struct State {
        /// Two generations of bounded size.
        var recent: [GUID: Int] = [:]
        var earlier: [GUID: Int] = [:]
        /// The theoretical arrival time of the next transaction.
        var due = Int64.min

        mutating func note(_ transaction: GUID, _ count: Int) {
            if recent.count == JoinGate.memory, recent[transaction] == nil { (earlier, recent) = (recent, [:]) }
            recent[transaction] = count
        }
    }

    static let memory = 8_192
    /// The maximum number of requests per transaction. No collector accepts more parts of one.
    static let requestLimit = 1_000
    private static let tolerance: Int64 = 60_000_000

    private let useCases: Set<Int>?
    private let interval: Int64?
    private let state = Locked(State())

    init(useCases: Set<Int>?, perMinute: Int) {
        self.useCases = useCases
        interval = perMinute > 0 ? Self.tolerance / Int64(perMinute) : nil
    }

    func knows(useCase: Int) -> Bool { useCases?.contains(useCase) ?? true }

    /// Known transactions have a limit each; the generic cell rate algorithm (ITU-T I.371) limits new ones.
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
