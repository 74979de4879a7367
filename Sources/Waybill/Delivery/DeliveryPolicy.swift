package import Foundation
public import WaybillCore
import WaybillStore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The meaning of a status other than 200 for the facts that were sent: they all stay pending.
///
/// `Deliver.md` has the same table, and `DeliveryPolicyTests` tests each row.
struct ResponsePolicy {
    let statuses: ClosedRange<Int>
    let code: WaybillError.Code
    /// The end of the sentence `The collector at PLACE …`.
    let sentence: String
    let remedy: Delivery.Failure.Remedy

    /// `isExplained` means that a problem document came, as from a collector. A proxy may reject every set without one.
    /// A 400 makes no set smaller: Waybill writes valid JSON, so the set was damaged on its way.
    static func row(for status: Int, isExplained: Bool = false) -> ResponsePolicy {
        if isExplained, status == 422 { return invalid }
        return rows.first { $0.statuses.contains(status) } ?? anythingElse
    }

    static let rows = [
        ResponsePolicy(
            200...299, .transport, "sent no receipt with status 200: check the URL, and any proxy in front of it",
            .retry()),
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
        400...499, .refused, "refused the set: smaller ones are sent, to find the refused facts", .sendLess)
    private static let anythingElse = ResponsePolicy(0...0, .transport, "gave an answer that is none", .retry())

    private init(
        _ statuses: ClosedRange<Int>, _ code: WaybillError.Code, _ sentence: String, _ remedy: Delivery.Failure.Remedy
    ) {
        self.statuses = statuses
        self.code = code
        self.sentence = sentence
        self.remedy = remedy
    }

    func failure(at place: String, status: Int, retryAfter time: Duration?, problem: String?) -> Delivery.Failure {
        let error = WaybillError(
            code, "The collector at \(place) \(sentence) (\(status)); the facts stay pending.", cause: problem)
        if case .retry = remedy { return Delivery.Failure(error, remedy: .retry(after: isAnError ? time : nil)) }
        return Delivery.Failure(error, remedy: remedy)
    }

    /// With any other status, the response may come from a network's sign-in page, and its `Retry-After` is ignored.
    private var isAnError: Bool { statuses.lowerBound >= 400 }
}

struct CollectorResponse {
    let data: Data
    let response: URLResponse
    let place: String
    var isCut = false

    /// The maximum size of a receipt: it may have a rejection with its reason for every fact.
    static func byteLimit(factCount: Int) -> Int { (64 << 10) + 2_500 * factCount }

    var isUnsupported: Bool { response.status == 415 }

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
        // A fact that is rejected twice would be counted twice.
        let places = Set(receipt.rejections.map { FactID(source: $0.source, sequence: Int64($0.index)) })
        let sequences = receipt.rejections.compactMap { rejection in
            rejection.sequence.map { FactID(source: rejection.source, sequence: $0) }
        }
        guard places.count == receipt.rejections.count, Set(sequences).count == sequences.count else {
            throw unknown("The receipt from \(place) names a rejected fact twice; the facts stay pending.")
        }
        receipt.retryAfter = retryAfter(now: now)
        return receipt
    }

    /// A server of version 0.0.1 accepts the facts that were sent with any 2xx.
    func acceptance(of set: OutgoingSet, but leftOut: [Receipt.Rejection], now: Date) throws(Delivery.Failure)
        -> Receipt
    {
        guard (200...299).contains(response.status) else { throw refusal(now: now) }
        return Receipt(
            set: set.id, acceptedCount: set.factCount - leftOut.count, rejections: leftOut,
            retryAfter: retryAfter(now: now))
    }

    private func refusal(now: Date) -> Delivery.Failure {
        ResponsePolicy.row(for: response.status, isExplained: problem != nil)
            .failure(at: place, status: response.status, retryAfter: retryAfter(now: now), problem: problem)
    }

    private func retryAfter(now: Date) -> Duration? {
        RetryAfter.duration(field("Retry-After"), answeredAt: field("Date"), now: now)
    }

    /// `Retry-After` is ignored, since the response is not a receipt.
    private func unknown(_ sentence: String) -> Delivery.Failure {
        Delivery.Failure(WaybillError(.transport, sentence))
    }

    private func field(_ name: String) -> String? { (response as? HTTPURLResponse)?.value(forHTTPHeaderField: name) }

    /// The media type in lower case, without parameters (RFC 9110, section 8.3.1).
    private var mediaType: String? {
        field("Content-Type")?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }

    /// The title and detail of a problem document (RFC 9457), redacted and shortened; `nil` for any other body.
    private var problem: String? {
        struct Problem: Decodable {
            let title, detail: String?

            init(from decoder: any Decoder) throws {
                let members = try decoder.container(keyedBy: MemberKey.self)
                title = try members.decodeIfPresent(String.self, forKey: "title")
                detail = try members.decodeIfPresent(String.self, forKey: "detail")
            }
        }
        guard mediaType == "application/problem+json", let problem = try? JSONDecoder().decode(Problem.self, from: data)
        else { return nil }
        let text = [problem.title, problem.detail].compactMap(\.self).joined(separator: ": ")
        return text.isEmpty ? nil : String(Redactor().text(text).prefix(300))
    }
}

extension Delivery {
    /// An error of a transport, with the reaction to it. Waybill treats other errors as ``retry(_:after:)`` without a
    /// time. The facts stay pending in every case.
    ///
    /// ## Usage
    ///
    /// ```swift
    /// throw Delivery.Failure.sendLess(WaybillError(.refused, "The queue takes 256 KB at most."))
    /// ```
    public struct Failure: Error, Sendable, Equatable, CustomStringConvertible {
        package enum Remedy: Sendable, Equatable {
            case retry(after: Duration? = nil), sendLess, waitForNewDelivery
        }

        /// The error, for people.
        public var error: WaybillError
        package var remedy: Remedy

        package init(_ error: WaybillError, remedy: Remedy = .retry()) {
            self.error = error
            self.remedy = remedy
        }

        /// Waybill sends the same facts again after this time, at most a day. `nil` means after a growing pause.
        public static func retry(_ error: WaybillError, after time: Duration? = nil) -> Self {
            Self(error, remedy: .retry(after: time))
        }

        /// Waybill sends half as many facts at once. A single fact that is too large goes into quarantine.
        public static func sendLess(_ error: WaybillError) -> Self { Self(error, remedy: .sendLess) }

        /// Waybill sends nothing until a restart, or until ``TransactionManager/delivery`` is set, usually with a new
        /// token.
        public static func waitForNewDelivery(_ error: WaybillError) -> Self {
            Self(error, remedy: .waitForNewDelivery)
        }

        public var description: String { error.description }
    }
}

extension Delivery.Failure {
    init(wrapping error: any Error) {
        self =
            error as? Delivery.Failure
            ?? Delivery.Failure(
                error as? WaybillError
                    ?? WaybillError(.transport, "The set could not be sent.", cause: "\(type(of: error))"))
    }
}

/// HTTP's `Retry-After`, in seconds or as a date (RFC 9110, section 10.2.3).
package enum RetryAfter {
    static let longest = Duration.seconds(86_400)

    /// A date is relative to the response's `Date`, since the device's clock may be wrong.
    package static func duration(_ value: String?, answeredAt date: String?, now: Date) -> Duration? {
        guard let value = value?.trimmingCharacters(in: .whitespaces), !value.isEmpty else { return nil }
        if value.utf8.allSatisfy(\.isDigit) {
            return min(Int64(value).map { .seconds($0) } ?? longest, longest)
        }
        guard let then = self.date(value) else { return nil }
        let seconds = then.timeIntervalSince(date.flatMap(self.date) ?? now)
        return min(max(.zero, .seconds(seconds)), longest)
    }

    /// RFC 9110, section 5.6.7, lists three forms.
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

/// Exponential backoff with full jitter: Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
struct Backoff {
    var first = Duration.seconds(10)
    /// One hour costs about fifty attempts a day for a host that is blocked.
    var longest = Duration.seconds(3_600)

    func bound(afterFailures count: Int) -> Duration { min(longest, first * (1 << max(0, min(count - 1, 20)))) }

    func wait(afterFailures count: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        .microseconds(Int64.random(in: 0...bound(afterFailures: count).microseconds, using: &generator))
    }
}

/// A circuit breaker: a failure opens it for a time, then one set tests whether it may close.
struct DeliveryGate {
    private(set) var limit = LeaseLimit()
    var refusal: WaybillError?
    private var pause: DeliveryPause?
    /// In microseconds of the device's uptime.
    private var heldUntil: Int64 = 0
    /// The pause in the store does not apply to a new delivery.
    private(set) var isForNewDelivery: Bool

    init(isForNewDelivery: Bool = false) { self.isForNewDelivery = isForNewDelivery }

    /// A flush that the app calls (`isAsked`) skips a pause after failures, but not one that the collector asked for.
    func blockingError(at uptime: Int64, isAsked: Bool) -> WaybillError? {
        if let refusal { return refusal }
        guard let pause, uptime < heldUntil, pause.wasAskedFor || !isAsked else { return nil }
        let seconds = (heldUntil - uptime + 999_999) / 1_000_000
        let why =
            pause.wasAskedFor
            ? "The collector asked to be left alone for another \(seconds) seconds"
            : "Delivery failed \(pause.failureCount) times in a row, and is tried again by itself in \(seconds) seconds"
        return WaybillError(.transport, "\(why); the facts stay pending.")
    }

    mutating func learn(_ pause: DeliveryPause?, at uptime: Int64) {
        isForNewDelivery = false
        self.pause = pause
        heldUntil = uptime + (pause?.remainingMicroseconds ?? 0)
    }

    var isClosed: Bool { pause == nil }

    func pause(afterFailure time: Duration?, using generator: inout some RandomNumberGenerator) -> DeliveryPause {
        let failureCount = (pause?.failureCount ?? 0) + 1
        let asked = time.flatMap { $0 > .zero ? min($0, RetryAfter.longest) : nil }
        let wait = asked ?? Backoff().wait(afterFailures: failureCount, using: &generator)
        return DeliveryPause(
            failureCount: failureCount, remainingMicroseconds: wait.microseconds, wasAskedFor: asked != nil)
    }

    mutating func lessen(from factCount: Int) { limit.factCount = max(1, factCount / 2) }

    private var refusalCount = 0
    /// The limit for a single bad fact. Above it, the cause is something else, and the rest stays pending.
    private static let refusalLimit = 20

    var mayRefuse: Bool { refusalCount < Self.refusalLimit }

    /// After consecutive rejections sets stay small, since finding each fact by halving takes a dozen requests.
    mutating func noteRefusal() {
        refusalCount += 1
        if refusalCount == 1 { limit = LeaseLimit() }
    }

    mutating func noteAcceptance() {
        if refusalCount > 1 { limit = LeaseLimit() }
        refusalCount = 0
    }
}
