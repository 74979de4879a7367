import WaybillCore
import WaybillExport
import WaybillReading

/// The ways to the same page by the other times.
struct ClockChoice {
    private let canChoose: Bool
    private let shown: ShownClocks
    private let address: (ShownClocks) -> String

    /// - Parameters:
    ///   - records: What the page shows; there is no choice where nothing is known of any clock.
    ///   - address: Of the page by these times.
    init(of records: [TransactionRecord], shown: ShownClocks, address: @escaping (ShownClocks) -> String) {
        canChoose = records.contains { $0.clocks?.offsets.isEmpty == false }
        self.shown = shown
        self.address = address
    }

    var html: HTML {
        guard canChoose else { return "" }
        let chips = ShownClocks.allCases.map { clocks -> HTML in
            "<li><a class=chip href=\"\(address(clocks))\"\(" aria-current=true", if: clocks == shown)>\(clocks.rawValue)</a>"
        }
        return "<nav class=clocks aria-label=Clocks><span>Clocks</span><ul class=outcomes>\(chips)</ul></nav>"
    }
}

extension ShownClocks {
    /// What an address carries on to another page; nothing for what is shown anyway.
    var query: String { self == .aligned ? "" : "?clocks=\(rawValue)" }
}
