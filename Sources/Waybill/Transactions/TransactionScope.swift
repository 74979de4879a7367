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
