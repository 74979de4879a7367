package import WaybillCore
package import WaybillExport
package import WaybillReading

/// How facts come in and go on: what waits, what was rejected and why, and which names changed.
package struct DeliveryPage {
    private let state: DeliveryState
    private let collected: Collected?
    private let names: ChangedNames
    private let frame: InspectorFrame

    /// What a collector that is running has counted; all of it since it was started.
    package struct Collected: Sendable, Redactable {
        /// Microseconds since 1970.
        var begunMicroseconds: Int64
        /// Facts by verdict.
        var accepted, known, rejected: Int
        /// Sets that could not be stored.
        var failedSets: Int
        /// Requests that were turned away, by reason in words; none where there were none.
        var refusals: [(words: String, count: Int)]
        var rejections: RejectedFacts

        package init(
            begunMicroseconds: Int64, accepted: Int, known: Int, rejected: Int, failedSets: Int,
            refusals: [(words: String, count: Int)],
            rejections: RejectedFacts
        ) {
            (self.begunMicroseconds, self.accepted, self.known, self.rejected) = (
                begunMicroseconds, accepted, known, rejected
            )
            (self.failedSets, self.refusals, self.rejections) = (failedSets, refusals, rejections)
        }

        package func redacted(by redactor: Redactor) -> Collected {
            var redacted = self
            redacted.rejections = rejections.redacted(by: redactor)
            return redacted
        }
    }

    /// - Parameter collected: nil where no collector runs.
    package init(
        _ state: Redacted<DeliveryState>, collected: Redacted<Collected?>, names: Redacted<ChangedNames>,
        in frame: InspectorFrame
    ) {
        (self.state, self.collected, self.names, self.frame) = (state.value, collected.value, names.value, frame)
    }

    /// The whole document.
    package var html: HTML { frame.page("Delivery", .sources, main: main) }

    private var main: HTML {
        """
        <div class=heads><h1>Delivery</h1>\(SourcesPage.views(current: "delivery"))</div>
        <div class=panels>\(own)\(counted)\(QuarantinePanel(state: state, collected: collected, frame: frame).html)\
        \(received)\(names.html(in: frame))</div>

        """
    }

    private var own: HTML {
        guard let own = state.own else { return "" }
        let sending = own.sending.map { "\(Words.count($0.factCount, "fact")), set \($0.set.supportCode)" } ?? "nothing"
        var cells: [(String, HTML)] = [
            ("Pending", "\(Words.count(own.pendingCount, "fact"))"), ("On its way", "\(sending)"),
            ("Delivered", own.deliveredCount == 0 ? "nothing yet" : "\(Words.count(own.deliveredCount, "fact"))"),
            ("Delivered last", settled(own)), ("Attempts", "\(pause(own.pause))"),
        ]
        if own.heldCount > 0 || own.sampledCount > 0 {
            cells.append(
                (
                    "Sampling",
                    "\(Words.count(own.heldCount, "pending fact")) held back until their transactions end, \(own.sampledCount) dropped"
                ))
        }
        for total in own.totals {
            cells.append(
                (
                    "\(Words.count(total.sourceCount, "ended launch")) of \(total.app)",
                    "\(LedgerBar(total.ledger).words)"
                ))
        }
        let list = cells.map { "<div><dt>\($0.0)<dd>\($0.1)</div>" as HTML }
        return "<header class=wide><h2>Recorded into this store</h2><dl>\(list)</dl></header>\n"
    }

    private func settled(_ own: DeliveryState.Own) -> HTML {
        guard let settled = own.settled else { return "no whole transaction yet" }
        return """
            <a href="transactions/\(settled.id.description)">\(settled.useCaseName) \(settled.id.supportCode.description)</a>, \
            of \(HTML.moment(settled.begunMicroseconds, .dateAndTime, in: frame.timeZone))
            """
    }

    private func pause(_ pause: DeliveryPause?) -> String {
        guard let pause else { return "nothing keeps them back" }
        let failures = pause.failureCount == 0 ? "none failed" : "\(pause.failureCount) failed in a row"
        return pause.wasAskedFor ? "\(failures); the collector asked to be left alone" : failures
    }

    private var received: HTML {
        guard state.own == nil || !state.hours.isEmpty else { return "" }
        return ArrivalChart(hours: state.hours, frame: frame).html
    }

    private var counted: HTML {
        guard let collected else { return "" }
        let turned = (collected.refusals + [("sets that could not be stored", collected.failedSets)]).filter {
            $0.1 > 0
        }
        let cells: [(String, HTML)] = [
            ("Counting since", HTML.moment(collected.begunMicroseconds, .dateAndTime, in: frame.timeZone)),
            ("Facts accepted", "\(collected.accepted)"),
            ("Facts known already", "\(collected.known)"), ("Facts rejected", "\(collected.rejected)"),
            (
                "Turned away",
                "\(turned.isEmpty ? "no request" : turned.map { "\($0.1) \($0.0)" }.joined(separator: ", "))"
            ),
        ]
        let list = cells.map { "<div><dt>\($0.0)<dd>\($0.1)</div>" as HTML }
        return "<header class=wide><h2>Since this collector was started</h2><dl>\(list)</dl></header>\n"
    }
}
