import WaybillCore
package import WaybillQueries

/// Texts that somebody might record to break a page that shows them.
package enum HostileText {
    /// Each must be shown as text. The marks `hostile-N` prove that it arrived.
    package static let corpus: [String] = [
        "<script>alert('hostile-0')</script>",
        "</script><script>alert('hostile-1')</script>",
        "</style></title></textarea></pre></details><img src=x onerror=alert('hostile-2')>",
        "\" onmouseover=\"alert('hostile-3')\" autofocus onfocus=\"alert('hostile-3')",
        "' onclick='alert(4)' hostile-4 `${alert(4)}`",
        "javascript:alert('hostile-5')",
        "<svg onload=alert('hostile-6')><use href='data:image/svg+xml,x'></svg>",
        "<!-- hostile-7 --><![CDATA[ ]]>--!><?php ?>",
        "&lt;b&gt;hostile-8&amp;#60;script&#62;",
        "<a href=\"https://evil.example/hostile-9\" style=\"position:fixed;inset:0\">click</a>",
        "<base href=https://evil.example/><meta http-equiv=refresh content=0;url=https://evil.example/hostile-10>",
        "<link rel=stylesheet href=https://evil.example/hostile-11.css><style>*{display:none}</style>",
        "nul \u{0} bell \u{7} escape \u{1B}[31m delete \u{7F} next line \u{85} hostile-12",
        "bidi \u{202E}txt.exe\u{202C} \u{2066}isolate\u{2069} hostile-13",
        String(decoding: [0xED, 0xA0, 0x80, 0xC0, 0xAF, 0xFF] as [UInt8], as: UTF8.self) + " surrogate hostile-14",
        "zero\u{200B}width\u{FEFF}\u{200D} \u{2028}line\u{2029} hostile-15",
        "{\"hostile-16\":\"</pre><script>alert(16)</script>\",\"list\":[1,{\"a\":\"\\\"<b>\"}],\"empty\":{}}",
        "' ; rm -rf / #hostile-17 $(reboot) `reboot` \\",
        "@/etc/passwd hostile-18\r\nX-Injected: yes",
        String(repeating: "W", count: 300) + "hostile-19",
        "عربي עברית 漢字 👩‍👩‍👧‍👦 z̷̡̛a̵l̶g̴o̸ hostile-20",
    ]

    /// A transaction for each hostile text, with that text wherever a record has one.
    package static var records: [TransactionRecord] {
        corpus.enumerated().map { index, text in record(text, begun: LoginHistory.begun + Int64(index) * 1_000_000) }
    }

    private static func record(_ text: String, begun: Int64) -> TransactionRecord {
        let source = TransactionRecord.Source(
            id: GUID(), app: text, appVersion: text, device: text, os: text, osVersion: text)
        let error = RecordedError(domain: text, code: -1, text: text)
        let attributes: Attributes = ["plain": .string(text), text: "value"]
        let opened = FactID(source: source.id, sequence: 1)
        let request = FactID(source: source.id, sequence: 3)
        let field = HeaderField(name: text, value: text)
        func entry(_ sequence: Int64, _ kind: TransactionRecord.Kind, _ exchange: FactID? = nil)
            -> TransactionRecord.Entry
        {
            TransactionRecord.Entry(
                id: FactID(source: source.id, sequence: sequence), kind: kind, part: 1,
                timeMicroseconds: begun + sequence * 1000,
                label: text, code: kind == .event ? 1 : nil, error: kind == .begun ? nil : error,
                attributes: attributes,
                exchange: exchange)
        }
        return TransactionRecord(
            summary: TransactionSummary(
                id: GUID(), useCase: 0, useCaseName: text, outcome: .failed, begunMicroseconds: begun,
                durationMicroseconds: 4000,
                error: error, attributes: attributes, sourceCount: 1, eventCount: 1, exchangeCount: 1,
                isWaitingForBeginner: true),
            sources: [source],
            parts: [
                TransactionRecord.Part(
                    id: opened, isJoined: false, cause: request, openedMicroseconds: begun + 1000,
                    closedMicroseconds: begun + 5000,
                    outcome: .failed, error: error, attributes: attributes)
            ],
            timeline: [
                entry(1, .begun), entry(2, .event), entry(3, .exchangeBegun, request),
                entry(4, .exchangeFinished, request),
                entry(5, .finished),
            ],
            exchanges: [
                TransactionRecord.Exchange(
                    id: request, part: 1, role: .client, method: text, url: "https://host.example/\(text)",
                    state: .failed, status: nil,
                    openedMicroseconds: begun + 3000, firstByteMicroseconds: nil, closedMicroseconds: begun + 4000,
                    sentByteCount: 1,
                    receivedByteCount: nil, requestHeaderFields: [field, HeaderField(name: "Plain", value: text)],
                    responseHeaderFields: [field], error: error)
            ])
    }
}
