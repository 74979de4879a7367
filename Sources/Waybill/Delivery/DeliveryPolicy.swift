package import Foundation
public import WaybillCore
import WaybillStore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a status other than 200 means for the facts that were sent: none settles anything, so all of them stay pending.
///
/// The guide `DeliverWhatWasRecorded.md` has the same table in words, and `DeliveryPolicyTests` row by row.
struct ResponsePolicy {
    let statuses: ClosedRange<Int>
    let code: WaybillError.Code
    /// Completes `The collector at PLACE …`, of which the status is said behind it.
    let sentence: String
    let remedy: Delivery.Failure.Remedy

    /// The first row that holds the status.
    ///
    /// - Parameter isExplained: Whether a problem document came with it, as collectors send one. What refuses a set without
    ///   a word may stand in front of the collector, and may refuse everything.
    static func row(for status: Int, isExplained: Bool = false) -> ResponsePolicy {
        if isExplained, status == 400 || status == 422 { return invalid }
        return rows.first { $0.statuses.contains(status) } ?? anythingElse
    }

    static let rows = [
        ResponsePolicy(
            200...299, .transport, "gave no verdicts: it is none of ours, or something stands in front of it", .retry()),
        ResponsePolicy(300...399, .transport, "redirects, which is not followed: give its own address", .retry()),
        ResponsePolicy(
            401...401, .refused, "does not take the token: nothing is sent until there is a new one",
            .waitForNewDelivery),
        ResponsePolicy(
            403...403, .refused,
            "does not let this token send: create one with `--role ingest`; nothing is sent until there is a new one",
            .waitForNewDelivery),
        ResponsePolicy(404...404, .refused, "has nothing there: give the address that it serves at", .retry()),
        ResponsePolicy(408...408, .transport, "waited too long for the set", .retry()),
        ResponsePolicy(413...413, .refused, "finds the set too large: smaller ones are sent", .sendLess),
        ResponsePolicy(429...429, .transport, "is asked too often", .retry()),
        ResponsePolicy(400...499, .refused, "refused the set", .retry()),
        ResponsePolicy(500...599, .transport, "is in trouble", .retry()),
    ]

    private static let invalid = ResponsePolicy(
        400...499, .refused, "refused the set: smaller ones are sent, to find what it refuses", .sendLess)
    private static let anythingElse = ResponsePolicy(0...0, .transport, "gave an answer that is none", .retry())

    private init(
        _ statuses: ClosedRange<Int>, _ code: WaybillError.Code, _ sentence: String, _ remedy: Delivery.Failure.Remedy
    ) {
        self.statuses = statuses
        self.code = code
        self.sentence = sentence
        self.remedy = remedy
    }

    /// The failure of an answer of this row.
    ///
    /// - Parameters:
    ///   - time: The answer's own `Retry-After`; obeyed where the remedy is to try again, and the status is an error's.
    ///   - problem: The answer's own words.
    func failure(at place: String, status: Int, retryAfter time: Duration?, problem: String?) -> Delivery.Failure {
        let error = WaybillError(
            code, "The collector at \(place) \(sentence) (\(status)); the facts stay pending.", cause: problem)
        if case .retry = remedy { return Delivery.Failure(error, remedy: .retry(after: isAnError ? time : nil)) }
        return Delivery.Failure(error, remedy: remedy)
    }

    /// A collector that asks for a pause does so with an error (4xx, 5xx). What answers a set with any other status is
    /// no collector, perhaps a network's sign-in page, and its `Retry-After` is not obeyed.
    private var isAnError: Bool { statuses.lowerBound >= 400 }
}

/// What was answered to the POST of a set, and whether it settles anything.
package struct CollectorResponse {
    let data: Data
    let response: URLResponse
    /// Who answered, for messages.
    let place: String
    /// Whether there was more than is ever read, so that `data` is not all of it.
    let isCut: Bool

    init(data: Data, response: URLResponse, from place: String, isCut: Bool = false) {
        self.data = data
        self.response = response
        self.place = place
        self.isCut = isCut
    }

    /// How many bytes a response to a set has at most: a receipt of which every fact has a rejection with its reason is
    /// shorter, and what is longer is none.
    static func byteLimit(factCount: Int) -> Int { (64 << 10) + 2_500 * factCount }

    /// Whether it is about the body's encoding that this answer complains, perhaps.
    var isUnsupported: Bool { response.status == 415 }

    /// The receipt, if this is one, of this set and of all its facts.
    func receipt(for set: OutgoingSet, now: Date) throws(Delivery.Failure) -> Receipt {
        guard response.status == 200 else { throw refusal(now: now) }
        guard mediaType == Receipt.mediaType else {
            throw unknown(
                "What answered at \(place) is no collector, perhaps a network's sign-in page; the facts stay pending.")
        }
        guard !isCut else {
            throw unknown(
                "The response from \(place) is longer than any receipt, and was not read to its end; the facts stay pending."
            )
        }
        guard var receipt = try? Receipt.decode(Array(data)) else {
            throw unknown("The receipt from \(place) cannot be read; the facts stay pending.")
        }
        guard receipt.set == set.id else {
            throw unknown("The receipt from \(place) is for another set; the facts stay pending.")
        }
        guard receipt.factCount == set.factCount else {
            throw unknown(
                "The receipt from \(place) is for \(receipt.factCount) facts, but \(set.factCount) were sent; they stay pending."
            )
        }
        // Whoever names a fact twice has counted it twice, and the ledger would have others than the report.
        let places = Set(receipt.rejections.map { Place(source: $0.source, number: Int64($0.index)) })
        let sequences = receipt.rejections.compactMap { rejection in
            rejection.sequence.map { Place(source: rejection.source, number: $0) }
        }
        guard places.count == receipt.rejections.count, Set(sequences).count == sequences.count else {
            throw unknown("The receipt from \(place) names a rejected fact twice; the facts stay pending.")
        }
        receipt.retryAfter = retryAfter(now: now)
        return receipt
    }

    private struct Place: Hashable {
        var source: GUID
        var number: Int64
    }

    /// What a server of version 0.0.1 says: any 2xx, with any content, takes the facts of a set that were sent.
    ///
    /// - Parameter leftOut: The facts of the set that were not.
    package func acceptance(of set: OutgoingSet, but leftOut: [Receipt.Rejection], now: Date) throws(Delivery.Failure)
        -> Receipt
    {
        guard (200...299).contains(response.status) else { throw refusal(now: now) }
        return Receipt(
            set: set.id, acceptedCount: set.factCount - leftOut.count, rejections: leftOut,
            retryAfter: retryAfter(now: now))
    }

    /// What a status other than a success means.
    private func refusal(now: Date) -> Delivery.Failure {
        ResponsePolicy.row(for: response.status, isExplained: problem != nil)
            .failure(at: place, status: response.status, retryAfter: retryAfter(now: now), problem: problem)
    }

    private func retryAfter(now: Date) -> Duration? {
        RetryAfter.duration(field("Retry-After"), answeredAt: field("Date"), now: now)
    }

    /// The `Retry-After` of what is no receipt of ours is not obeyed either.
    private func unknown(_ sentence: String) -> Delivery.Failure {
        Delivery.Failure(WaybillError(.transport, sentence))
    }

    private func field(_ name: String) -> String? { (response as? HTTPURLResponse)?.value(forHTTPHeaderField: name) }

    /// The type without its parameters, in lower case (RFC 9110, section 8.3.1).
    private var mediaType: String? {
        field("Content-Type")?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }

    /// Title and detail of a problem document (RFC 9457), redacted and shortened; nil for any other body.
    private var problem: String? {
        struct Problem: Decodable { var title, detail: String? }
        guard mediaType == "application/problem+json", let problem = try? JSONDecoder().decode(Problem.self, from: data)
        else { return nil }
        let text = [problem.title, problem.detail].compactMap(\.self).joined(separator: ": ")
        return text.isEmpty ? nil : String(Redactor().text(text).prefix(300))
    }
}

extension Delivery {
    /// Why a transport's set was not taken, and what is to be done about it.
    ///
    /// A transport that throws anything else is tried again later, by ``Remedy/retry(after:)`` without a time.
    ///
    /// ## Usage
    ///
    /// ```swift
    /// throw Delivery.Failure(WaybillError(.refused, "The queue takes 256 KB at most."), remedy: .sendLess)
    /// ```
    public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// What is to be done. The facts stay pending in every case.
        public enum Remedy: Sendable, Hashable {
            /// The same facts go out again: after this time, a day at most; nil: after a pause that grows with each
            /// failure.
            case retry(after: Duration? = nil)
            /// Half as many go out at once; a fact that is too large all by itself goes into quarantine.
            case sendLess
            /// Nothing goes out until ``TransactionManager/delivery`` is set anew, as a rule with another token, or the
            /// process is.
            case waitForNewDelivery
        }

        /// What went wrong, for people.
        public var error: WaybillError
        /// What is to be done about it.
        public var remedy: Remedy

        /// Makes a failure.
        public init(_ error: WaybillError, remedy: Remedy = .retry()) {
            self.error = error
            self.remedy = remedy
        }

        public var description: String { error.description }
    }
}

extension Delivery.Failure {
    /// What any error of a transport comes to.
    init(wrapping error: any Error) {
        self =
            error as? Delivery.Failure
            ?? Delivery.Failure(
                error as? WaybillError
                    ?? WaybillError(.transport, "The set could not be sent.", cause: "\(type(of: error))"))
    }
}

/// HTTP's `Retry-After`: in seconds, or as a date (RFC 9110, section 10.2.3).
package enum RetryAfter {
    /// Delivery pauses for no longer, even where an answer asks for more.
    static let longest = Duration.seconds(86_400)

    /// How long to wait; nil for what is neither a number nor a date. A date in the past is no wait.
    ///
    /// - Parameters:
    ///   - date: The answer's `Date`, by which a date is understood: the device's clock may be wrong.
    ///   - now: By the device's clock, for an answer without a `Date`.
    package static func duration(_ value: String?, answeredAt date: String?, now: Date) -> Duration? {
        guard let value = value?.trimmingCharacters(in: .whitespaces), !value.isEmpty else { return nil }
        if value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return min(Int64(value).map { .seconds($0) } ?? longest, longest)
        }
        guard let then = self.date(value) else { return nil }
        let seconds = then.timeIntervalSince(date.flatMap(self.date) ?? now)
        return min(max(.zero, .seconds(seconds)), longest)
    }

    /// A date in any of the three forms that RFC 9110, section 5.6.7, has a recipient take.
    private static func date(_ text: String) -> Date? {
        for format in ["EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy"] {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = .gmt
            formatter.dateFormat = format
            if let date = formatter.date(from: text) { return date }
        }
        return nil
    }
}

/// How long to wait after failures in a row: exponential, with full jitter, so that clients that failed together do not
/// come back together.
///
/// Source: Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015: a random time between nothing
/// and the bound.
struct Backoff {
    /// The bound after the first failure; doubled with each further one.
    var first = Duration.seconds(10)
    /// The bound is never higher: an hour, so that a host that is blocked for good costs a device some fifty attempts a
    /// day.
    var longest = Duration.seconds(3_600)

    /// The longest wait after so many failures in a row.
    func bound(afterFailures count: Int) -> Duration { min(longest, first * (1 << max(0, min(count - 1, 20)))) }

    /// A wait after so many failures in a row.
    func wait(afterFailures count: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        .microseconds(Int64.random(in: 0...bound(afterFailures: count).microseconds, using: &generator))
    }
}

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
