package import WaybillAnalysis
import WaybillCore

/// What only answers say.
extension Words {
    /// `12.5 %`; `-` of nothing.
    package static func percent<Number: BinaryInteger>(_ count: Number, of total: Number) -> String {
        guard total > 0 else { return "-" }
        let tenths = (Double(count) * 1000 / Double(total)).wholeNumber
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// `the beginning`, `the outcome`, or the event's name.
    package static func point(_ point: TransactionPoint) -> String {
        switch point {
        case .begun: "the beginning"
        case .finished: "the outcome"
        case .event(let name): name
        }
    }

    /// `-12.5 %` for -0.125.
    package static func percent(_ rate: Double) -> String {
        let tenths = (rate.magnitude * 1000).wholeNumber
        return "\(rate < 0 && tenths > 0 ? "-" : "")\(tenths / 10).\(tenths % 10) %"
    }

    /// `client, before`.
    package static func leg(_ leg: Leg) -> String {
        switch leg {
        case .clientBefore: "client, before"
        case .request: "request"
        case .server: "server"
        case .response: "response"
        case .network: "network, either way"
        case .exchange: "network and server"
        case .clientBetween: "client, between"
        case .clientAfter: "client, after"
        }
    }

    /// What a table of legs does not show, a sentence each.
    package static func remarks(_ total: LegsSegment) -> [String] {
        var remarks: [String] = []
        if total.withoutSplit > 0 {
            remarks.append(
                "Of \(total.withoutSplit) too little is known of the clocks to tell request and response apart.")
        }
        if total.withoutServer > 0 { remarks.append("Of \(total.withoutServer) no server told its part of a request.") }
        let left = [(total.withoutEnd, "not closed"), (total.withoutExchange, "closed without a request")].filter {
            $0.0 > 0
        }
        if !left.isEmpty { remarks.append("Left out: \(left.map { "\($0.0) \($0.1)" }.joined(separator: ", ")).") }
        if let off = total.uncertainty.p90Microseconds {
            remarks.append(
                "The borders of request, server and response may be off by \(duration(off)), of nine in ten.")
        }
        return remarks
    }
}

extension Double {
    /// Rounded, and at most 10^12: the numbers may come from anywhere.
    fileprivate var wholeNumber: Int { isNaN ? 0 : Int(Swift.min(Swift.max(self, 0), 1e12).rounded()) }
}
