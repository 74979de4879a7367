import WaybillCore
import WaybillExport
import WaybillReading

/// Terms of the filter to switch on and off above the list of exchanges: the hosts that are on the page, what was slow,
/// what was large.
struct ExchangeTerms {
    private let address: ListAddress
    /// Those on the page, the most frequent in front.
    private let hosts: [String]

    /// More are no choice for people.
    private static let hostLimit = 6
    private static let usual: [FilterCondition] = [.tookMoreThan(.seconds(1)), .receivedMoreThan(100_000)]

    init(_ page: RecordPage<ExchangeRecord>, at address: ListAddress) {
        self.address = address
        hosts = Self.hosts(of: page.rows)
    }

    static func hosts(of rows: [ExchangeRecord]) -> [String] {
        var counts: [String: Int] = [:]
        // Without the port, which is no part of a host's name; an address of IPv6 has colons of its own.
        for row in rows where !row.exchange.host.hasPrefix("[") {
            counts[String(row.exchange.host.prefix { $0 != ":" }), default: 0] += 1
        }
        counts[""] = nil
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(Self.hostLimit).map(\.key)
    }

    var html: HTML {
        let terms = (hosts.map { FilterCondition.host($0) } + Self.usual).map(\.description)
        // What was chosen stays to be switched off, also where nothing of it is on the page.
        let all = terms + chosen.filter { $0.hasPrefix("host:") && !terms.contains($0) }
        return "<ul class=terms aria-label=\"Terms of the filter\">\(all.map(chip))</ul>\n"
    }

    private func chip(_ term: String) -> HTML {
        let isOn = chosen.contains(term)
        let terms = isOn ? chosen.filter { $0 != term } : chosen + [term]
        return """
            <li><a class=chip href="\(address.with("filter", terms.isEmpty ? nil : terms.joined(separator: " ")))"\
            \(" aria-current=true", if: isOn)>\(term)</a>
            """
    }

    /// The terms of the filter; one that cannot be read is one term as it stands.
    private var chosen: [String] {
        guard let text = address["filter"] else { return [] }
        return (try? FilterExpression(text, about: .exchanges).terms.map(\.description)) ?? [text]
    }
}
