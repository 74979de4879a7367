public import WaybillCore

/// Serves two places: a set is delivered when both have it.
///
/// One delivery belongs to a store; this makes it two. A fact that either place rejects goes into quarantine. Where one
/// place fails, nothing is settled, and the same facts go out again later, to both; each knows what it has already. The
/// place that failed last is asked first, so that the other is not sent the same facts over and over while it is down:
/// once at most. What is recorded meanwhile waits on the device, within its limits, like everything that cannot be
/// delivered.
///
/// ## Usage
///
/// ```swift
/// let both = TeeTransport(URLSessionTransport(collector: url, token: token), FileTransport(folder: archive))
/// transactions.delivery = .transport(both)
/// ```
public final class TeeTransport: FlushTransport {
    private let first: any FlushTransport
    private let second: any FlushTransport
    private let secondGoesFirst = Locked(false)

    /// Makes a transport to two places.
    public init(_ first: any FlushTransport, _ second: any FlushTransport) {
        self.first = first
        self.second = second
    }

    /// Hands a set to one place, and then to the other.
    ///
    /// - Throws: What the place throws that did not take it.
    public func send(_ set: OutgoingSet) async throws -> Receipt {
        if secondGoesFirst.withLock({ $0 }) {
            let theirs = try await second.send(set)
            return try await sendToFirst(set).joined(with: theirs, for: set)
        }
        let ours = try await sendToFirst(set)
        do {
            return ours.joined(with: try await second.send(set), for: set)
        } catch {
            secondGoesFirst.withLock { $0 = true }
            throw error
        }
    }

    private func sendToFirst(_ set: OutgoingSet) async throws -> Receipt {
        do {
            return try await first.send(set)
        } catch {
            secondGoesFirst.withLock { $0 = false }
            throw error
        }
    }
}

extension Receipt {
    /// What two places say together: rejected is what either rejects, known what the first knows; of two that
    /// hand out sampling rates the first is heard.
    fileprivate func joined(with other: Receipt, for set: OutgoingSet) -> Receipt {
        struct Place: Hashable {
            var source: GUID
            var index: Int
        }
        let mine = Set(rejections.map { Place(source: $0.source, index: $0.index) })
        let all = rejections + other.rejections.filter { !mine.contains(Place(source: $0.source, index: $0.index)) }
        let known = min(knownCount, max(0, set.factCount - all.count))
        return Receipt(
            set: set.id, acceptedCount: max(0, set.factCount - all.count - known), knownCount: known, rejections: all,
            refusedSources: refusedSources + other.refusedSources.filter { !refusedSources.contains($0) },
            refusedNameCount: max(refusedNameCount, other.refusedNameCount),
            samplingRates: samplingRates.isEmpty ? other.samplingRates : samplingRates,
            retryAfter: [retryAfter, other.retryAfter].compactMap(\.self).max())
    }
}
