import Foundation
package import WaybillCore
package import WaybillQueries

package enum Words {
    package static func duration(_ microseconds: Int64) -> String { microseconds.durationText }

    package static func roundDuration(_ time: Int64) -> String {
        var words = duration(time).split(separator: " ")
        if words[0].contains(".") {
            while words[0].last == "0" { words[0].removeLast() }
            if words[0].last == "." { words[0].removeLast() }
        }
        if words.count == 4, words[2] == "0" { words.removeLast(2) }
        return words.joined(separator: " ")
    }

    package static func time(_ microsecondsSince1970: Int64) -> String {
        let time = WallTime(microsecondsSince1970, in: .gmt)
        return "\(time.date) \(time.time)"
    }

    package static func iso8601(_ microsecondsSince1970: Int64) -> String {
        let time = WallTime(microsecondsSince1970, in: .gmt)
        let microseconds = (microsecondsSince1970 % 1000 + 1000) % 1000
        return "\(time.date)T\(time.time)\(String(1000 + microseconds).dropFirst())Z"
    }

    package static func byteCount(_ number: some BinaryInteger) -> String {
        let count = Int64(clamping: number)
        return switch count {
        case ..<1000: "\(count) B"
        case ..<1_000_000: "\(count.decimalText(per: 1000, digits: 1)) kB"
        default: "\(count.decimalText(per: 1_000_000, digits: 1)) MB"
        }
    }

    package static func number(_ number: Double) -> String {
        Int64(exactly: number).map(String.init) ?? String(format: "%.6g", number)
    }

    package static func count(_ count: some BinaryInteger, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }

    package static func children(_ children: TransactionSummary.Children) -> String {
        "\(children.count)" + (children.failedCount > 0 ? ", \(children.failedCount) failed" : "")
    }

    package static func outcome(_ outcome: TransactionOutcome) -> String { outcome.name.spaced }

    /// Describes sampling, for example `10 %, not chosen: kept, since it failed`; `nil` without a sampling rate.
    package static func sampling(of summary: TransactionSummary) -> String? {
        guard let sampling = summary.sampling else { return nil }
        let rate = "\(number(Double(sampling.perMillion) / 10_000)) %, "
        if sampling.isChosen { return rate + "chosen" }
        let outcome = outcome(summary.outcome)
        let isKept = sampling.isKept(for: summary.outcome, tookMicroseconds: summary.durationMicroseconds)
        let fate =
            switch summary.outcome {
            case .open: "waits for its end"
            case .failed, .timedOut: "kept, since it \(outcome)"
            case .abandoned, .interrupted: "kept, since it was \(outcome)"
            case .succeeded where !isKept: "dropped, since it \(outcome)"
            case .cancelled where !isKept: "dropped, since it was \(outcome)"
            case .succeeded, .cancelled: "kept, since it took longer than \(duration(sampling.slowMicroseconds ?? 0))"
            }
        return "\(rate)not chosen: \(fate)"
    }

    /// With mixed outcomes, percentiles of all durations are misleading.
    package static func counted(_ outcomes: [TransactionOutcome: Int]) -> String? {
        let told = TransactionOutcome.allCases.compactMap { outcome in
            outcomes[outcome].map { "\($0) \(Words.outcome(outcome))" }
        }
        guard !told.isEmpty else { return nil }
        let hint =
            outcomes[.succeeded] != nil && told.count > 1
            ? " With outcome:succeeded in the filter, only those that succeeded count." : ""
        return "Counted by how they ended: \(told.joined(separator: ", ")).\(hint)"
    }

    /// Describes uncertainty about the beginner and the beginning; `nil` if both are certain.
    package static func beginning(of record: TransactionRecord) -> String? {
        let sentences = [beginner(of: record), farAhead(record)].compactMap(\.self)
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    private static func farAhead(_ record: TransactionRecord) -> String? {
        guard let told = record.parts.first?.openedMicroseconds, told > record.summary.begunMicroseconds else {
            return nil
        }
        return "By its source's clock it began at \(time(told)) UTC, more than a day after it arrived. "
            + "Lists and questions go by its arrival."
    }

    private static func beginner(of record: TransactionRecord) -> String? {
        if record.summary.isWaitingForBeginner { return "The source that began it has not been heard yet." }
        let count = Set(record.parts.filter { !$0.isJoined }.map(\.id.source)).count
        guard count > 1 else { return nil }
        return
            "\(count) sources say that they began it, and anybody can who knows its ID. Lists show the first one here: "
            + "one that the others name as their cause comes before one that none names."
    }

    package static func state(_ state: ExchangeRecord.State) -> String { state.rawValue.spaced }

    package static func error(_ error: RecordedError) -> String {
        let names = error.chain.map(name).joined(separator: ", caused by ")
        return error.text.map { "\(names): \($0)" } ?? names
    }

    package static func causes(of error: RecordedError) -> String {
        error.underlying.map(name).joined(separator: ", caused by ")
    }

    /// Prefers the name, since codes of enums change.
    private static func name(_ error: RecordedError.Underlying) -> String {
        let which = error.name ?? "\(error.code)"
        return "\(error.domain.isEmpty ? (error.name == nil ? "error" : "") : error.domain) \(which)"
            .trimmingCharacters(in: .whitespaces)
    }

    package static func attributes(_ attributes: Attributes) -> String {
        attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }
}

extension Words {
    package static func percent<Number: BinaryInteger>(_ count: Number, of total: Number) -> String {
        guard total > 0 else { return "-" }
        let tenths = (Double(count) * 1000 / Double(total)).wholeNumber
        return "\(tenths / 10).\(tenths % 10) %"
    }

    package static func point(_ point: TransactionPoint) -> String {
        switch point {
        case .begun: "the beginning"
        case .finished: "the outcome"
        case .event(let name): name
        }
    }

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
    /// Rounded, and at most 10^12, to avoid overflow for untrusted numbers.
    fileprivate var wholeNumber: Int { isNaN ? 0 : Int(Swift.min(Swift.max(self, 0), 1e12).rounded()) }
}

extension String {
    /// The text without control characters.
    package var printable: String { replacingCommands { _ in false } }

    /// Like ``printable``, but keeps line feeds and tabs.
    package var printableLines: String { replacingCommands { $0 == "\n" || $0 == "\t" } }

    private func replacingCommands(but isKept: (Unicode.Scalar) -> Bool) -> String {
        // Bytes are compared faster than scalars, and most texts are ASCII.
        guard !utf8.allSatisfy({ (0x20..<0x7F).contains($0) }),
            unicodeScalars.contains(where: { $0.isCommand && !isKept($0) })
        else { return self }
        let scalars = Array(unicodeScalars)
        return String(
            String.UnicodeScalarView(
                scalars.indices.map { index -> Unicode.Scalar in
                    let scalar = scalars[index]
                    guard scalar.isCommand, !isKept(scalar) else { return scalar }
                    // Persian, Indic scripts and emoji need joiners. Next to ASCII, and at the ends, joiners only hide.
                    let joins =
                        scalar.isJoiner && index > 0 && index + 1 < scalars.count && !scalars[index - 1].isASCII
                        && !scalars[index + 1].isASCII && !scalars[index - 1].isCommand
                        && !scalars[index + 1].isCommand
                    return joins ? scalar : "\u{FFFD}"
                }))
    }
}

extension String {
    package var spaced: String {
        // Most texts have no underscore, and the check takes a hundredth of the time of `replacing`.
        utf8.contains(UInt8(ascii: "_")) ? replacing("_", with: " ") : self
    }
}

extension Unicode.Scalar {
    /// Whether this is a control character, a directional mark or invisible, and could disguise text.
    package var isCommand: Bool {
        if isASCII { return value < 0x20 || value == 0x7F }
        return switch value {
        // Control characters, soft hyphen, Arabic and Mongolian marks, Hangul fillers.
        case 0x80...0x9F, 0xAD, 0x061C, 0x180E, 0x115F, 0x1160, 0x3164, 0xFFA0: true
        // Zero-width characters, directional marks, embeddings and overrides, invisible operators.
        case 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x206F: true
        // Byte order mark, annotations, tags.
        case 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F: true
        default: false
        }
    }

    fileprivate var isJoiner: Bool { value == 0x200C || value == 0x200D }
}
