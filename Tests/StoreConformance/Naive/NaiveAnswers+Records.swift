import WaybillCore
package import WaybillQueries

/// Builds, from the facts, the records that people read.
extension NaiveAnswers {
    package func summary(_ run: Run) -> TransactionSummary {
        let facts = run.parts.flatMap(\.facts)
        return TransactionSummary(
            id: run.id, useCase: run.leader.opened.useCase,
            useCaseName: useCaseName(run.leader.opened.useCase, run.leader.source),
            outcome: run.outcome, begunMicroseconds: run.begun, durationMicroseconds: run.duration,
            error: run.closing?.closed.error,
            attributes: run.leader.attributes, sourceCount: Set(run.parts.map(\.source)).count,
            eventCount: facts.count { if case .event = $0.content { true } else { false } },
            exchangeCount: facts.count { if case .exchangeOpened = $0.content { true } else { false } },
            isWaitingForBeginner: run.leader.opened.isJoined,
            endedBy: run.outcome == .interrupted ? histories[run.leader.source].endedBy : nil,
            parent: run.leader.opened.parent,
            parentPart: run.leader.opened.parentPart.map { FactID(source: run.leader.id.source, sequence: $0) },
            children: children(of: run).isEmpty
                ? nil
                : .init(
                    count: children(of: run).count, failedCount: children(of: run).count { $0.outcome == .failed }),
            sampling: run.leader.opened.sampling)
    }

    func children(of run: Run) -> [Run] {
        runs.filter { $0.leader.opened.parent == run.id }.sorted {
            ($0.begun, $0.leader.id.source, $0.leader.id.sequence)
                < ($1.begun, $1.leader.id.source, $1.leader.id.sequence)
        }
    }

    /// The transactions above and below it; `nil` if it has none. Histories are too small for anything to be left out.
    private func family(of run: Run) -> TransactionRecord.Family? {
        var family = TransactionRecord.Family(above: [], below: [])
        var met: Set<GUID> = [run.id]
        var next = run.leader.opened.parent
        while let id = next, met.insert(id).inserted, let above = runs.first(where: { $0.id == id }) {
            family.above.insert(summary(above), at: 0)
            next = above.leader.opened.parent
        }
        var (level, children) = ([run], [GUID: [TransactionSummary]]())
        while !level.isEmpty {
            var found: [Run] = []
            for parent in level {
                let some = self.children(of: parent).filter { met.insert($0.id).inserted }
                children[parent.id] = some.map(summary)
                found += some
            }
            level = found
        }
        family.below = ParentWalk.inOrder(children, below: run.id)
        return family.above.isEmpty && family.below.isEmpty ? nil : family
    }

    func source(_ number: Int) -> TransactionRecord.Source {
        let source = histories[number].source
        return TransactionRecord.Source(
            id: source.id, app: source.app, appVersion: source.appVersion, device: source.device, os: source.os,
            osVersion: source.osVersion, endedBy: histories[number].endedBy)
    }

    // MARK: One transaction

    package func record(_ run: Run) -> TransactionRecord {
        var sources: [Int] = []
        for part in run.parts where !sources.contains(part.source) { sources.append(part.source) }
        let exchanges = exchanges(of: run).sorted {
            ($0.wall, $0.id.source, $0.id.sequence) < ($1.wall, $1.id.source, $1.id.sequence)
        }
        return TransactionRecord(
            summary: summary(run), sources: sources.map(source), parts: run.parts.map { record($0, in: run) },
            timeline: sources.flatMap { timeline(run, in: $0) }.sorted {
                ($0.time, $0.entry.id.source, $0.number) < ($1.time, $1.entry.id.source, $1.number)
            }.map(\.entry), exchanges: exchanges.map(shown), clocks: sources.count > 1 ? alignment(run) : nil,
            family: family(of: run))
    }

    private func record(_ part: Part, in run: Run) -> TransactionRecord.Part {
        TransactionRecord.Part(
            id: part.id, isJoined: part.opened.isJoined, cause: part.opened.cause, openedMicroseconds: part.begun,
            closedMicroseconds: part.closing.map { part.begun + $0.fact.atMicroseconds - part.fact.atMicroseconds },
            outcome: outcome(of: part, lastActivity: run.lastActivity), error: part.closing?.closed.error,
            attributes: part.attributes)
    }

    /// The entries of one source, in the order of its own clock, none earlier than the one before it.
    private func timeline(
        _ run: Run, in source: Int
    ) -> [(time: Int64, number: Int, entry: TransactionRecord.Entry)] {
        var latest = Int64.min
        return run.parts.filter { $0.source == source }.flatMap { part in part.facts.map { (part, $0) } }
            .sorted { ($0.1.atMicroseconds, $0.1.sequence) < ($1.1.atMicroseconds, $1.1.sequence) }
            .enumerated()
            .map { number, each in
                latest = max(latest, wall(each.1.atMicroseconds, source))
                return (latest, number, entry(each.1, in: each.0))
            }
    }

    private func entry(_ fact: Fact, in part: Part) -> TransactionRecord.Entry {
        var entry = TransactionRecord.Entry(
            id: FactID(source: part.id.source, sequence: fact.sequence), kind: .begun, part: part.fact.sequence,
            timeMicroseconds: wall(fact.atMicroseconds, part.source), label: "",
            isLate: part.closing.map { $0.fact.sequence < fact.sequence } ?? false)
        switch fact.content {
        case .opened(let content):
            (entry.kind, entry.label) = content.isJoined ? (.joined, "joined") : (.begun, "begun")
            entry.attributes = content.attributes
        case .event(let content):
            (entry.kind, entry.code, entry.error, entry.attributes) = (
                .event, content.code, content.error, content.attributes
            )
            entry.label = eventName(content.code, of: part.opened.useCase, part.source)
        case .attributesSet(let content):
            (entry.kind, entry.label, entry.attributes) = (.attributesSet, content.label, content.attributes)
        case .unknown(let content): (entry.kind, entry.label) = (.unknown, content.kind)
        case .closed(let content):
            (entry.kind, entry.label, entry.error, entry.attributes) = (
                .finished, content.outcome.name, content.error, content.attributes
            )
        case .exchangeOpened(let content):
            (entry.kind, entry.label, entry.exchange) = (.exchangeBegun, "\(content.method) \(content.path)", entry.id)
        case .exchangeClosed(let content):
            (entry.kind, entry.error) = (.exchangeFinished, content.error)
            entry.label = content.status.map { "\($0)" } ?? content.state.name
            entry.exchange = FactID(source: part.id.source, sequence: content.exchange)
        }
        return entry
    }

    // MARK: Exchanges

    package func record(_ exchange: NaiveExchange) -> ExchangeRecord {
        ExchangeRecord(
            exchange: shown(exchange), state: exchange.state, source: source(exchange.source),
            transaction: exchange.transaction,
            useCase: exchange.useCase, useCaseName: exchange.useCase.map { useCaseName($0, exchange.source) })
    }

    /// Computes all times from the anchor of its opening: its durations are then those of the source's own clock.
    private func shown(_ exchange: NaiveExchange) -> TransactionRecord.Exchange {
        let offset = exchange.wall - exchange.fact.atMicroseconds
        let closed = exchange.closing?.closed
        return TransactionRecord.Exchange(
            id: exchange.id, part: exchange.fact.part, role: exchange.opened.role, method: exchange.opened.method,
            url: exchange.opened.url, state: closed?.state, status: closed?.status, openedMicroseconds: exchange.wall,
            firstByteMicroseconds: closed?.firstByteAtMicroseconds.map { $0 + offset },
            closedMicroseconds: exchange.closing.map { $0.fact.atMicroseconds + offset },
            sentByteCount: closed?.sentByteCount,
            receivedByteCount: closed?.receivedByteCount, requestHeaderFields: exchange.opened.headerFields,
            responseHeaderFields: closed?.headerFields ?? [], error: closed?.error,
            transfer: (closed?.transfer ?? Fact.Transfer()).timed { $0 + offset })
    }

    // MARK: Clocks

    /// Aligns clocks from the leading part outwards. A part whose cause is not reached this way is not aligned.
    private func alignment(_ run: Run) -> ClockAlignment {
        let legs = NaiveLegs(answers: self)
        let reference = run.leader.id.source
        var offsets = [
            ClockAlignment.Offset(source: reference, microseconds: 0, uncertaintyMicroseconds: 0, sampleCount: .max)
        ]
        var waiting = run.parts.filter { $0.id.source != reference }.sorted {
            ($0.id.source, $0.id.sequence) < ($1.id.source, $1.id.sequence)
        }
        func known(_ part: Part) -> ClockAlignment.Offset? { offsets.first { $0.source == part.opened.cause?.source } }
        while let index = waiting.firstIndex(where: { known($0) != nil }) {
            let part = waiting.remove(at: index)
            guard let base = known(part), let cause = part.opened.cause,
                !offsets.contains(where: { $0.source == part.id.source }),
                let client = histories.firstIndex(where: { $0.source.id == cause.source }),
                let exchange = exchanges(of: run).first(where: { $0.id == cause }),
                let own = legs.offset(of: part, causedBy: cause.sequence, in: client)
            else { continue }
            let walls = (exchange.wall - exchange.fact.atMicroseconds) - (part.begun - part.fact.atMicroseconds)
            let middle = own.range.lowerBound + (own.range.upperBound - own.range.lowerBound) / 2
            offsets.append(
                ClockAlignment.Offset(
                    source: part.id.source, microseconds: middle + walls + base.microseconds,
                    uncertaintyMicroseconds: own.range.upperBound - middle + base.uncertaintyMicroseconds,
                    sampleCount: min(own.sampleCount, base.sampleCount)))
        }
        return ClockAlignment(reference: reference, offsets: Array(offsets.dropFirst()))
    }
}
