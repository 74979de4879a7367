#if ClickHouse
public import WaybillAnalysis
import WaybillCore
import WaybillReading
import WaybillStore

extension ClickHouseStore: ExplorableStore {
    /// As every store does. A process that has a copy of the database answers by it; one that has none reads the
    /// database bucket by bucket, unless it is small.
    public func answer(_ question: AnyQuestion, where parameters: [(name: String, value: String)]) async throws
        -> AnyAnswer
    {
        if try await isReadInPieces(), let answer = try await answerByBuckets(question, where: parameters) {
            return answer
        }
        return try await reading { try await $0.answer(question, where: parameters) }
    }

    public func seenValues(useCase: Int?, limit: Int) async throws -> SeenValues {
        try await reading { try await $0.seenValues(useCase: useCase, limit: limit) }
    }

    /// - Returns: nil: the question looks at who was begun below whom, and they may be in several buckets.
    private func answerByBuckets(_ question: AnyQuestion, where parameters: [(name: String, value: String)])
        async throws -> AnyAnswer?
    {
        let now = clock.wallMicroseconds()
        let meant = try await BucketReader.readNames(tables) { reader in
            try question.meant(by: parameters, reader, now: now)
        }
        guard !meant.looksAtFamilies else { return nil }
        let sampled = meant.readsOneIn
        let answer = try await answer(meant, readingOneIn: sampled, now: now)
        // Why nothing counts is said by all that is there.
        return sampled > 1 && answer?.whyEmpty != nil ? try await self.answer(meant, readingOneIn: 1, now: now) : answer
    }

    private func answer(_ meant: AnyQuestion, readingOneIn sampled: Int, now: Int64) async throws -> AnyAnswer? {
        try await tables.untilComplete {
            var buckets = try await BucketReader(tables, factsEach: factsPerBucket, sampledOneIn: sampled)
            var all: AnyPartial?
            while let partial = try await buckets.next(
                until: Interruption(after: readLimit, by: clock),
                { reader in
                    try QueryFailure.ofQuestion { try meant.partial(from: reader, now: now) }
                })
            {
                if all == nil { all = partial } else { try all?.merge(partial) }
            }
            return try QueryFailure.ofQuestion { try all?.answer() }
        }
    }
}
#endif
