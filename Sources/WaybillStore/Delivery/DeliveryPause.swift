import Foundation
package import WaybillCore

extension DeliveryPause {
    /// As it is kept: it ends at a time of ``DeviceTime``, which no turned clock moves.
    private struct Kept: Codable {
        var failures: Int
        var untilMicroseconds: Int64
        var asked: Bool

        enum CodingKeys: String, CodingKey {
            case failures, asked
            case untilMicroseconds = "until_us"
        }
    }

    /// What a damaged store says beyond that is not believed: the count goes on from here.
    private static let largestFailureCount = 1_000_000

    /// As the setting's text says at a time; nil for what is no such text.
    fileprivate init?(_ text: String, now: Int64) {
        guard let kept = try? JSONDecoder().decode(Kept.self, from: Data(text.utf8)) else { return nil }
        // No pause is longer than a day: a damaged one must not stop delivery for good.
        let remaining = kept.untilMicroseconds.subtracting(now)
        guard remaining <= 86_400_000_000 else { return nil }
        self.init(
            failureCount: min(max(0, kept.failures), Self.largestFailureCount),
            remainingMicroseconds: max(0, remaining),
            wasAskedFor: kept.asked)
    }

    fileprivate func text(now: Int64) -> String? {
        let kept = Kept(failures: failureCount, untilMicroseconds: now + remainingMicroseconds, asked: wasAskedFor)
        return (try? JSONEncoder().encode(kept)).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension StoreReader {
    /// The pause as the store was told of it last; nil: none.
    package func deliveryPause() throws(WaybillError) -> DeliveryPause? {
        let text = try connection.statement("SELECT value FROM settings WHERE key = ?").first(Store.pauseKey) { row in
            row.text(0)
        }
        guard let text, let time = try DeviceTime(connection) else { return nil }
        return DeliveryPause(text, now: time.now)
    }
}

extension Store {
    fileprivate static let pauseKey = "delivery_pause"

    /// The pause that holds, or has held since the last success; nil: none.
    package func deliveryPause(by clock: any TransactionClock) throws(WaybillError) -> DeliveryPause? {
        guard let text = try setting(Self.pauseKey) else { return nil }
        return DeliveryPause(text, now: try deviceTime(clock))
    }

    /// Keeps a pause that begins now; nil: ends the one that there is.
    package func setDeliveryPause(_ pause: DeliveryPause?, by clock: any TransactionClock) throws(WaybillError) {
        let now = try deviceTime(clock)
        try set(Self.pauseKey, to: pause?.text(now: now))
    }

    private func deviceTime(_ clock: any TransactionClock) throws(WaybillError) -> Int64 {
        let moment = Moment(clock)
        var time = try DeviceTime(connection) ?? DeviceTime(moment)
        time.pass(to: moment)
        return time.now
    }
}
