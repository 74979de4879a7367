package import WaybillCore
package import WaybillExport
package import WaybillReading

/// The list of sources: a line for each, the one that was heard last in front.
package struct SourcesPage {
    private let page: RecordPage<SourceRecord>
    private let details: [GUID: SourceDetails]
    private let address: ListAddress
    private let apps: [String]
    private let frame: InspectorFrame

    /// - Parameters:
    ///   - page: Where it is empty, with the reason.
    ///   - details: What is missing is shown as unknown.
    ///   - apps: Names to choose from.
    package init(
        _ page: Redacted<RecordPage<SourceRecord>>, details: Redacted<[GUID: SourceDetails]>, at address: ListAddress,
        apps: Redacted<[String]>, in frame: InspectorFrame
    ) {
        (self.page, self.details, self.address, self.apps, self.frame) = (
            page.value, details.value, address, apps.value, frame
        )
    }

    /// The whole document.
    package var html: HTML { frame.page("Sources", .sources, main: main) }

    private var main: HTML {
        """
        <div class=heads><h1>Sources</h1>\(Self.views(current: "sources"))</div>
        \(form)\(list)\(ListPaging(address: address, next: page.next).html)
        """
    }

    /// From the sources to the delivery and back.
    static func views(current: String) -> HTML {
        let links = [("sources", "Sources"), ("delivery", "Delivery and names")].map { path, name in
            "<a href=\(path == "sources" ? "sources" : "delivery")\(" aria-current=page", if: path == current)>\(name)</a>"
                as HTML
        }
        return "<nav class=views aria-label=\"Sources and delivery\">\(links)</nav>"
    }

    private var form: HTML {
        var names = apps
        // What came by the URL alone can be seen, and is kept.
        if let app = address["app"], !names.contains(app) { names.append(app) }
        let options = names.map {
            "<option value=\"\($0)\"\(" selected", if: $0 == address["app"])>\($0)</option>" as HTML
        }
        let clear: HTML = address.items.contains { $0.name != "cursor" } ? "<a href=\"?\">Clear</a>" : ""
        return """
            <form class=find method=get><search><input type=search name=text value="\(address["text"] ?? "")" aria-label=Search \
            placeholder="Version, device, system, ID ..."><select name=app aria-label="Every app"><option value="">Every app</option>\
            \(options)</select>\(address.hidden(besides: ["text", "app"]))<button>Show</button>\(clear)</search></form>

            """
    }

    private var list: HTML {
        guard !page.rows.isEmpty else { return "<div class=none><b>No sources</b><p>\(page.whyEmpty ?? "")</div>\n" }
        return "<ol class=\"rows src\">\(page.rows.map(row))</ol>\n"
    }

    private func row(_ record: SourceRecord) -> HTML {
        let bar = LedgerBar(record)
        let place = [record.device, record.system].filter { !$0.isEmpty }.joined(separator: " · ")
        return """
            <li class=\(bar.tone)><a href="sources/\(record.id.description)"><b>\(record.appName) <u>\(record.appVersion)</u></b> \
            <span>\(place)</span> \(bar.html) <em>\(bar.words)</em> <small>\(ClockText(clocks: details[record.id]?.clocks).short)</small> \
            \(time(record))</a>

            """
    }

    private func time(_ record: SourceRecord) -> HTML {
        guard
            let seen = record.heardMicroseconds ?? details[record.id]?.latestFact?.microseconds
                ?? record.startedMicroseconds
        else {
            return "<time>never</time>"
        }
        return HTML.moment(seen, .row, in: frame.timeZone)
    }
}
