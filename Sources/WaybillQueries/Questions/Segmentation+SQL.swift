import WaybillCore
import WaybillStore

extension Segmentation {
    static func precedes(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return left == nil && right != nil }
        return left < right
    }

    func column(now wall: Int64) -> String {
        // Rounds down, also before 1970.
        let seconds = "p.listed_us / 1000000 - (p.listed_us % 1000000 < 0)"
        return switch self {
        case .attribute(let name): AttributeSQL(literally: name).latest
        case .hour: "strftime('%Y-%m-%dT%H:00Z', \(seconds), 'unixepoch')"
        case .day: "strftime('%Y-%m-%d', \(seconds), 'unixepoch')"
        case .ended:
            """
            iif(p.outcome = \(TransactionOutcome.interrupted.rawValue), \
            ifnull((SELECT s.ended_by FROM sources s WHERE s.id = p.source), 'unknown'), NULL)
            """
        case .parentOutcome:
            "(SELECT CASE \(SQL.outcome("r", now: "\(wall)")) \(Self.outcomes) END \(Self.parent))"
        case .parentUseCase:
            """
            (SELECT \(SQL.name(useCase: "r.use_case", event: "-1", otherwise: "'use case ' || r.use_case")) \
            \(Self.parent))
            """
        case .app, .appVersion, .device, .os, .osVersion: "NULL"
        }
    }

    private static let parent =
        "FROM parts r CROSS JOIN sources s ON s.id = r.source WHERE r.guid = p.parent AND r.listed_us IS NOT NULL"
    private static let outcomes = TransactionOutcome.allCases.map { "WHEN \($0.rawValue) THEN '\($0.name)'" }
        .joined(separator: " ")

    /// The text of the hour, or of its day. `hour` counts from 1970.
    func start(ofHour hour: Int64, _ connection: Connection) throws(WaybillError) -> String? {
        let time = hour.multipliedReportingOverflow(by: 3_600_000_000).partialValue
        return try connection.statement("SELECT \(column(now: 0)) FROM (SELECT ? AS listed_us) p").first(time) { row in
            row.optionalText(0)
        } ?? nil
    }

    func value(in source: TransactionRow.Source?, column: String?) -> String? {
        guard case .attribute(let name) = self else { return value(in: source, of: column) }
        return DetailColumn(column).attributes[name]?.description
    }

    func value(in source: TransactionRow.Source?, of column: String?) -> String? {
        switch self {
        case .attribute, .hour, .day, .ended, .parentOutcome, .parentUseCase: column
        case .app: source?.app
        case .appVersion: source?.appVersion
        case .device: source?.device
        case .os: source?.os
        case .osVersion: source?.osVersion
        }
    }
}
