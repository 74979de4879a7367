import WaybillCore
import WaybillExport
import WaybillQueries

struct TransactionsPage {
    @Redacted var page: RecordPage<TransactionSummary>
    var volume: VolumeChart?
    let errorCounts: [GUID: Int]
    let names: Redacted<[RecordedName]>
    let version: Int64
    let frame: InspectorFrame
    private var address: ListAddress { frame.address }

    var html: HTML { frame.page("Transactions", .transactions, main: main) }

    private static let hint = "Any word, or outcome:failed event:requestSent took>2s"

    private var main: HTML {
        """
        <h1>Transactions</h1>
        \(ListForm(address: address, field: "filter", hint: Self.hint, useCases: names.useCases, terms: "terms").html)\
        <div class=line>\(outcomes)\(fold)\(frame.liveBar(version), if: address.isFirstPage)</div>
        <div class=line><b data-fresh>\(volume?.total ?? "")</b><a href="sessions\(address.with("cursor", nil))">By session</a></div>
        \(volume?.html ?? "")\(list)\
        \(ListPaging(page: page, noun: "transaction", frame: frame).html)\(file, if: !page.rows.isEmpty)
        """
    }

    private var file: HTML {
        "<p><a class=copier download href=\"transactions.html\(address.with("cursor", nil))\">All of these as HTML</a>\n"
    }

    private var outcomes: HTML {
        let words = TransactionOutcome.allCases.map { outcome in
            (word: outcome.name, content: "\(outcome.icon)\(Words.outcome(outcome))" as HTML, tone: outcome.name)
        }
        return ListChips(address: address, name: "outcome", label: "Outcomes", words: words).html
    }

    /// Leaves out children whose parents are in the list.
    private var fold: HTML {
        ListChips(
            address: address, name: "fold", label: "Child transactions",
            words: [(word: "true", content: "Hide children of listed transactions", tone: "fold")]
        ).html
    }

    private var list: HTML {
        guard !page.rows.isEmpty else {
            let word = page.progress == nil ? "No transactions" : "Nothing yet"
            // Without conditions, only an empty store has no rows.
            let help = address.items.isEmpty && page.progress == nil ? NoRows.firstSet : ""
            let none = NoRows(title: word, why: page.whyEmpty, help: help, frame: frame)
            return "<ol class=rows></ol>\(none.html)"
        }
        let rows = TransactionRows(page.rows, errorCounts: errorCounts, in: frame)
        let links = frame.links(keeping: ["use_case"])
        return "\(head)\(rows.html)\(rows.scales)\(RowValues(page.rows, links).html)"
    }
}
