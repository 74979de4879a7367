import WaybillCore
import WaybillQueries
import WaybillStore

/// The facts of a store, in arrays, and the numbers of all facts that were booked.
struct NaiveBooks: Sendable {
    /// The state of one source.
    struct Entry: Sendable {
        /// Has only the facts that are still stored.
        var history: SourceHistory
        var heard: Int64
        var recorded: Int64 = 0
        /// Includes retired facts.
        var received: Set<Int64> = []
        var retired: Set<Int64> = []
        var dropped: [Int64: Ledger.DropReason] = [:]
        /// The digest of the secret of the source's first sender.
        var proofDigest: [UInt8]?

        var id: GUID { history.source.id }
        var facts: [Fact] { history.facts }
    }

    /// In the order of their first appearance.
    private(set) var entries: [Entry] = []
    private(set) var names: Set<NaiveAnswers.Name> = []
    /// New facts, in order of arrival.
    private(set) var arrivals: [(number: Int64, source: GUID, sequences: Set<Int64>, time: Int64)] = []
    /// The highest number of an arrival.
    private(set) var lastArrival: Int64 = 0
    /// Installations and transactions whose facts are no longer accepted.
    private var erased: Set<GUID> = []
    /// Transactions that were erased with the installation that began them.
    private var erasedWithInstallation: Set<GUID> = []
    /// The known installations, each with the digest of its secret; `nil` if it has none.
    private var installations: [GUID: [UInt8]?] = [:]

    /// Returns the answers that readers get at a time.
    func answers(now: Int64) -> NaiveAnswers { NaiveAnswers(histories: entries.map(\.history), names: names, now: now) }

    /// All stored facts.
    var facts: Set<FactID> {
        Set(entries.flatMap { entry in entry.facts.map { FactID(source: entry.id, sequence: $0.sequence) } })
    }

    /// The facts that arrived after a cursor, or after a position of a list: the number of an arrival.
    func facts(after cursor: String) throws(QueryFailure) -> Set<FactID> {
        guard let number = Int64(cursor), (0...lastArrival).contains(number) else {
            throw .parameter("after", "That is no cursor.")
        }
        return arrived { $0.number > number }
    }

    /// The facts that arrived at a time or later.
    func facts(since time: Int64) -> Set<FactID> { arrived { $0.time >= time } }

    private func arrived(_ isMeant: ((number: Int64, source: GUID, sequences: Set<Int64>, time: Int64)) -> Bool) -> Set<
        FactID
    > {
        Set(
            arrivals.filter(isMeant).flatMap { arrival in
                arrival.sequences.map { FactID(source: arrival.source, sequence: $0) }
            })
    }

    // MARK: Adding

    mutating func add(_ decoded: TransactionSet, at time: Int64) -> Receipt {
        var receipt = Receipt(set: decoded.id, acceptedCount: 0, rejections: decoded.rejections)
        for share in decoded.sources {
            let unread = Set(decoded.rejections.filter { $0.source == share.source.id }.map(\.index))
            // Positions in the list as it was sent.
            let places = (0..<share.facts.count + unread.count).filter { !unread.contains($0) }
            add(share, places, at: time, to: &receipt)
        }
        return receipt
    }

    private mutating func add(_ share: TransactionSet.Share, _ places: [Int], at time: Int64, to receipt: inout Receipt)
    {
        func reject(_ index: Int, _ reason: String) {
            receipt.rejections.append(
                Receipt.Rejection(
                    source: share.source.id, sequence: share.facts[index].sequence, index: places[index], reason: reason
                ))
        }
        let known = entries.first { $0.id == share.source.id }
        guard admits(share, known) else {
            receipt.refusedSources.append(RefusedSource(source: share.source.id, reason: "no proof"))
            for index in share.facts.indices { reject(index, "no proof") }
            return
        }
        if known == nil, let installation = share.source.installation {
            if erased.contains(installation) {
                for index in share.facts.indices { reject(index, "erased") }
                let begun = Set(share.facts.compactMap(\.begunTransaction))
                let its = begun.subtracting(entries.flatMap(\.facts).compactMap(\.begunTransaction))
                erasedWithInstallation.formUnion(its)
                _ = erase(parts: its)
                return
            }
            if installations[installation] == nil {
                installations[installation] = .some(share.installationProof?.digest)
            }
        }
        var entry =
            known
            ?? Entry(
                history: SourceHistory(
                    source: share.source, clocks: [], names: [], facts: [], hasEnded: false, refused: 0), heard: time,
                proofDigest: share.sourceProof?.digest)
        if !entries.contains(where: { $0.id == entry.id }) { entries.append(entry) }
        var share = share
        if entry.proofDigest == nil { (share.hasEnded, share.endedBy, share.dropped) = (false, nil, []) }
        entry.note(share, at: time)
        NaiveAnswers.add(share.names, of: entry.history.source, to: &names)
        let told = share.dropped.filter { $0.first <= entry.recorded }.flatMap { range in
            (range.first...min(range.last, entry.recorded)).map { (sequence: $0, reason: range.reason) }
        }
        let begun = Set((entries.flatMap(\.facts) + share.facts).compactMap(\.begunTransaction))
        let refused = share.facts.filter { fact in
            fact.transaction.map { id in
                erased.contains(id)
                    || fact.begunTransaction == nil && erasedWithInstallation.contains(id) && !begun.contains(id)
            } ?? false
        }.map(\.sequence)
        _ = entry.erase(
            Set(told.filter { $0.reason == .erased }.map(\.sequence) + refused).filter { entry.dropped[$0] != .erased })
        var arrived: Set<Int64> = []
        for (index, fact) in share.facts.enumerated() {
            if fact.roots.contains(where: { entry.dropped[$0] == .erased }) {
                entry.dropped[fact.sequence] = .erased
                reject(index, "erased")
            } else if entry.received.contains(fact.sequence) {
                let stored = entry.facts.first { $0.sequence == fact.sequence }
                if let stored, !stored.isTwin(of: fact) {
                    reject(index, Receipt.Rejection.sequenceIsTaken)
                } else {
                    receipt.knownCount += 1
                }
            } else if let other = entry.facts.first(where: { $0.closes != nil && $0.closes == fact.closes }) {
                reject(
                    index, "the \(other.part == other.closes ? "part" : "exchange") is closed already by another fact")
            } else {
                entry.history.facts.append(fact)
                entry.received.insert(fact.sequence)
                arrived.insert(fact.sequence)
                receipt.acceptedCount += 1
            }
        }
        for (sequence, reason) in told {
            entry.dropped[sequence] = [reason, entry.dropped[sequence]].compactMap(\.self).min { $0.rank < $1.rank }
        }
        for sequence in entry.received { entry.dropped[sequence] = nil }
        if !arrived.isEmpty {
            lastArrival += 1
            arrivals.append((lastArrival, entry.id, arrived, time))
        }
        entries[entries.firstIndex { $0.id == entry.id } ?? 0] = entry
    }

    /// Whether a share is from its source or, if the source is new, from its installation.
    private func admits(_ share: TransactionSet.Share, _ known: Entry?) -> Bool {
        if let known { return known.proofDigest == nil || known.proofDigest == share.sourceProof?.digest }
        guard let installation = share.source.installation, let digest = installations[installation] ?? nil else {
            return true
        }
        return digest == share.installationProof?.digest
    }

    // MARK: Erasing

    /// Erases the parts of transactions in all sources.
    private mutating func erase(parts transactions: Set<GUID>) -> Erasure {
        erase(transactions) { _, _ in false }
    }

    mutating func erase(_ scope: ErasureScope) -> Erasure {
        let (answers, before) = (answers(now: 0), entries)
        var (transactions, outside): (Set<GUID>, (Entry, Fact) -> Bool) = ([], { _, _ in false })
        switch scope {
        case .all:
            transactions = Set(answers.runs.map(\.id))
            outside = { _, _ in true }
        case .transactions(let ids): transactions = Set(ids)
        case .begunBefore(let date):
            let time = date.microseconds
            transactions = Set(answers.runs.filter { $0.begun < time }.map(\.id))
            let early = Set(answers.exchanges.filter { $0.fact.part == 0 && $0.wall < time }.map(\.id))
            outside = { entry, fact in fact.part == 0 && early.contains(FactID(source: entry.id, sequence: fact.root))
            }
        case .installation(let installation):
            erased.insert(installation)
            let (its, others) = (
                entries.filter { $0.history.source.installation == installation },
                entries.filter { $0.history.source.installation != installation }
            )
            transactions = Set(its.flatMap(\.facts).compactMap(\.begunTransaction))
                .subtracting(others.flatMap(\.facts).compactMap(\.begunTransaction))
            erasedWithInstallation.formUnion(transactions)
            outside = { entry, _ in entry.history.source.installation == installation }
        case .networkLogs:
            defer { removeUnusedNames(heardBefore: .max, ofThoseThatLost: before) }
            return Erasure(
                transactionCount: 0, factCount: entries.indices.map { entries[$0].eraseExchanges() }.reduce(0, +))
        case .pending: break
        }
        switch scope {
        case .installation, .networkLogs: break
        case .all, .transactions, .begunBefore, .pending: erased.formUnion(transactions)
        }
        defer {
            if case .installation(let installation) = scope {
                entries.removeAll { $0.history.source.installation == installation }
                arrivals.removeAll { arrival in !entries.contains { $0.id == arrival.source } }
            }
            removeUnusedNames(heardBefore: .max, ofThoseThatLost: scope == .all ? nil : before)
        }
        return erase(transactions, outside)
    }

    private mutating func erase(_ transactions: Set<GUID>, _ outside: (Entry, Fact) -> Bool) -> Erasure {
        var (gone, count): (Set<GUID>, Int) = ([], 0)
        for index in entries.indices {
            let parts = Set(
                entries[index].facts.filter { $0.transaction.map(transactions.contains) ?? false }.map(\.sequence))
            let entry = entries[index]
            let roots = Set(entry.facts.filter { parts.contains($0.part) || outside(entry, $0) }.map(\.root))
            let facts = entries[index].erase(roots)
            gone.formUnion(facts.compactMap(\.transaction))
            count += facts.count
        }
        return Erasure(transactionCount: gone.count, factCount: count)
    }

    // MARK: Retiring

    /// Removes whole transactions, and exchanges outside of any, if all their facts arrived before a time.
    mutating func retire(receivedBefore time: Int64) -> Int {
        let answers = answers(now: 0)
        let fresh = facts(since: time)
        let units =
            answers.runs.map(\.facts)
            + answers.exchanges.filter { $0.fact.part == 0 }.map { exchange in
                [exchange.fact, exchange.closing?.fact].compactMap(\.self).map {
                    FactID(source: exchange.id.source, sequence: $0.sequence)
                }
            }
        let old = Set(units.filter { fresh.isDisjoint(with: $0) }.flatMap(\.self))
        for index in entries.indices {
            let sequences = Set(old.filter { $0.source == entries[index].id }.map(\.sequence))
            entries[index].retired.formUnion(sequences)
            entries[index].history.facts.removeAll { sequences.contains($0.sequence) }
        }
        arrivals.removeAll { arrival in
            arrival.time < time
                && entries.first { $0.id == arrival.source }.map { arrival.sequences.isSubset(of: $0.retired) } ?? true
        }
        removeUnusedNames(heardBefore: time)
        return old.count
    }

    /// Removes the names of a version with the last part of its sources, unless one of these was heard of lately.
    ///
    /// - Parameter before: The entries before an erasure, which keeps the names of versions that lose no facts.
    private mutating func removeUnusedNames(heardBefore time: Int64, ofThoseThatLost before: [Entry]? = nil) {
        let losers = before?.filter { old in
            entries.first { $0.id == old.id }.map { $0.facts.count < old.facts.count } ?? true
        }.map { [$0.history.source.app, $0.history.source.appVersion] }
        let used = entries.filter { $0.heard >= time || $0.facts.contains { $0.part != 0 } }.map(\.history.source)
        names = names.filter { name in
            if let losers, !losers.contains([name.app, name.version]) { return true }
            return used.contains {
                $0.app == name.app && $0.appVersion == name.version && (name.launch == nil || name.launch == $0.id)
            }
        }
    }
}

extension NaiveBooks.Entry {
    fileprivate mutating func note(_ share: TransactionSet.Share, at time: Int64) {
        recorded = max(recorded, share.ledger.recorded, share.facts.map(\.sequence).max() ?? 0)
        heard = max(heard, time)
        history.hasEnded = history.hasEnded || share.hasEnded
        // If two ends were reported, the same one wins in any order of arrival.
        if share.hasEnded, let end = share.endedBy, end.name > history.endedBy?.name ?? "" { history.endedBy = end }
        history.refused = max(history.refused, share.ledger.refused)
        for anchor in share.clocks {
            let same = history.clocks.first { $0.atMicroseconds == anchor.atMicroseconds }
            history.clocks.removeAll { $0.atMicroseconds == anchor.atMicroseconds }
            // If a moment has two anchors, the greater one wins in any order of arrival.
            history.clocks.append(
                [anchor, same].compactMap(\.self).max { $0.offsetMicroseconds < $1.offsetMicroseconds } ?? anchor)
        }
        history.clocks.sort { $0.atMicroseconds < $1.atMicroseconds }
    }

    /// Removes facts with everything that belongs to them, and books them as erased.
    fileprivate mutating func erase(_ sequences: Set<Int64>) -> [Fact] {
        let gone = facts.filter { !sequences.isDisjoint(with: $0.roots) }
        let all = sequences.union(gone.map(\.sequence))
        history.facts.removeAll { all.contains($0.sequence) }
        received.subtract(all)
        retired.subtract(all)
        for sequence in all { dropped[sequence] = .erased }
        return gone
    }

    /// Removes the facts of exchanges, and keeps the rest of their transactions.
    fileprivate mutating func eraseExchanges() -> Int {
        let openings = facts.compactMap { fact -> Int64? in
            if case .exchangeOpened = fact.content { fact.sequence } else { nil }
        }
        let closings = facts.compactMap { fact -> Int64? in
            guard case .exchangeClosed(let closed) = fact.content else { return nil }
            // Outside of a transaction, the exchange's opening is erased, too, even if it has not arrived.
            return fact.part == 0 ? closed.exchange : fact.sequence
        }
        return erase(Set(openings + closings)).count
    }

    /// The record of its facts: those that arrived, and those that did not (yet).
    var record: SourceRecord {
        var ledger = Ledger(recorded: recorded, delivered: Int64(received.count), refused: history.refused)
        for reason in dropped.values { ledger.dropped[reason.rawValue, default: 0] += 1 }
        let booked = received.union(dropped.keys)
        ledger.pending = max(0, recorded - Int64(booked.count))
        var gaps: [SourceRecord.Gap] = []
        for sequence in 1...max(1, booked.max() ?? 0) where !booked.contains(sequence) && !booked.isEmpty {
            if gaps.last?.last == sequence - 1 {
                gaps[gaps.count - 1].last = sequence
            } else {
                gaps.append(SourceRecord.Gap(first: sequence, last: sequence))
            }
        }
        return SourceRecord(
            history.source,
            startedMicroseconds: history.clocks.first.map { $0.atMicroseconds + $0.offsetMicroseconds },
            heardMicroseconds: heard,
            hasEnded: history.hasEnded, ledger: ledger, gaps: gaps, endedBy: history.endedBy)
    }
}

extension Fact {
    /// The sequence of the opening that it belongs to: that of its part or, outside of one, of its exchange.
    fileprivate var root: Int64 {
        if part > 0 { return part }
        if case .exchangeClosed(let closed) = content { return closed.exchange }
        return sequence
    }

    /// The facts whose erasure erases this one, too.
    fileprivate var roots: [Int64] {
        if case .exchangeClosed(let closed) = content { return [sequence, part, closed.exchange] }
        return [sequence, part]
    }

    /// Whether it is the same fact, however it was redacted.
    fileprivate func isTwin(of other: Fact) -> Bool {
        guard part == other.part, atMicroseconds == other.atMicroseconds, closes == other.closes else { return false }
        return switch (content, other.content) {
        case (.opened(let one), .opened(let other)): one.transaction == other.transaction
        case (.event(let one), .event(let other)): one.code == other.code
        case (.attributesSet, .attributesSet), (.exchangeOpened, .exchangeOpened), (.closed, .closed),
            (.exchangeClosed, .exchangeClosed), (.unknown, .unknown):
            true
        case (.opened, _), (.event, _), (.attributesSet, _), (.exchangeOpened, _), (.closed, _), (.exchangeClosed, _),
            (.unknown, _):
            false
        }
    }

    /// The opening that it closes.
    fileprivate var closes: Int64? {
        switch content {
        case .closed: part
        case .exchangeClosed(let closed): closed.exchange
        case .opened, .event, .attributesSet, .exchangeOpened, .unknown: nil
        }
    }

    fileprivate var transaction: GUID? { if case .opened(let opened) = content { opened.transaction } else { nil } }

    fileprivate var begunTransaction: GUID? {
        if case .opened(let opened) = content, !opened.isJoined { opened.transaction } else { nil }
    }
}

extension Ledger.DropReason {
    /// Decides between two reasons: the lower one wins.
    fileprivate var rank: Int { self == .erased ? -1 : Self.allCases.firstIndex(of: self) ?? 0 }
}
