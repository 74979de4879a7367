#if Collector
import WaybillCollector
import WaybillCore
import WaybillExport

extension ExchangeText {
    /// All lines, with emphasis.
    func lines(_ palette: Palette) -> [String] {
        let width = names.map(\.count).max() ?? 0
        return lines.map { line in
            switch line {
            case .title(let text): palette.paint(text.printable, .bold)
            case .heading(let text): palette.paint(text, .dim)
            case .fact(let name, let value, let isBad):
                palette.paint(name.padded(to: width), .dim) + "  " + palette.paint(value.printable, isBad ? .red : nil)
            case .field(let name, let value): palette.paint("\(name.printable):", .cyan) + " \(value.printable)"
            case .phase(let name, let duration, let bar):
                palette.paint(name.padded(to: 8), .dim) + duration.padded(to: 9, onLeft: true) + "  "
                    + palette.paint(bar, .blue)
            case .text(let text): text.replacing("\t", with: "    ").replacing("\r", with: "").printable
            case .empty: ""
            }
        }
    }
}
#endif
