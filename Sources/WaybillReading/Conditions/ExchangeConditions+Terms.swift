import WaybillCore
import WaybillStore

/// Conditions on the exchange `l` that `s` recorded.
extension ExchangeConditions {
    mutating func sql(of condition: ExchangeCondition) -> String {
        switch condition {
        case .host(let host):
            "(l.host = \(argument(host)) COLLATE NOCASE OR l.host LIKE \(argument("%." + SQL.escaped(host))) ESCAPE '\\')"
        case .path(let path): self.path(path)
        case .method(let methods): "l.method COLLATE NOCASE IN (\(methods.sorted().map { argument($0) }.joined(separator: ", ")))"
        case .status(let range): "l.status BETWEEN \(argument(range.lowerBound)) AND \(argument(range.upperBound))"
        case .state(let states): Self.condition(states)
        case .error(let error): self.error(error)
        case .tookMoreThan(let microseconds): "l.closed_at_us - l.at_us > \(argument(microseconds))"
        case .tookLessThan(let microseconds): "l.closed_at_us - l.at_us < \(argument(microseconds))"
        case .receivedMoreThan(let count): "l.received_bytes > \(argument(count))"
        case .receivedLessThan(let count): "l.received_bytes < \(argument(count))"
        case .app(let value): "s.app = \(argument(value)) COLLATE NOCASE"
        case .appVersion(let value): "s.app_version = \(argument(value)) COLLATE NOCASE"
        case .device(let value): "s.device = \(argument(value)) COLLATE NOCASE"
        case .osVersion(let value): "s.os_version = \(argument(value)) COLLATE NOCASE"
        case .os(let value): os(value)
        case .text(let text): mention(of: text)
        case .not(let condition): "NOT ifnull(\(sql(of: condition)), 0)"
        // By the transactions that were chosen.
        case .useCase, .event, .attribute: "1"
        }
    }

    /// In any of these states, of `network_logs l` and `sources s`.
    static func condition(_ states: Set<ExchangeRecord.State>) -> String {
        "(\(states.sorted { $0.rawValue < $1.rawValue }.map(condition).joined(separator: " OR ")))"
    }

    private mutating func path(_ path: String) -> String {
        let whole = "/" + path.drop { $0 == "/" }
        let below = SQL.escaped(whole.hasSuffix("/") ? whole : "\(whole)/") + "%"
        // LIKE does not tell letters from capitals, and paths do.
        return """
            (l.path = \(argument(whole)) OR (l.path LIKE \(argument(below)) ESCAPE '\\' \
            AND substr(l.path, 1, \(argument(whole.unicodeScalars.count))) = \(argument(whole))))
            """
    }

    private mutating func error(_ text: String) -> String {
        let error = ErrorPattern(text)
        let code = error.code.map { argument($0) }
        let pattern = error.text.map { argument(SQL.pattern(containing: $0)) }
        return ErrorPattern.sql("l.error_code", "l.closed_detail", code: code, pattern: pattern)
    }

    private mutating func os(_ value: String) -> String {
        let beginnings = [" %", ".%"].map { argument(SQL.escaped(value) + $0) }
        return "(\(beginnings.map { "s.os || ' ' || s.os_version || ' ' LIKE \($0) ESCAPE '\\'" }.joined(separator: " OR ")))"
    }
}
