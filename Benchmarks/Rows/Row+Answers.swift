import Foundation
import WaybillCore
import WaybillStore

extension Row {
    /// Questions about a store of a million events, or ten million with `BIG=1`, compared with SQL on the same file,
    /// with DuckDB over the export, and with the memory limit. All have to give the same numbers, or there is no
    /// figure. With `COLD=1`, the system's memory holds nothing of a file before the question, which needs root and
    /// Linux.
    static let answers: [Row] = AnswerQuestion.allCases.flatMap { question -> [Row] in
        let measured = AnswerMeasurement(of: question)
        var rows = [
            Row(question.rawValue, unit: "ms", against: "SQL") { try measured.result().sqlite },
            Row(question.rawValue, unit: "MB peak", against: "limit") {
                Comparison(value: try measured.result().megabytes, baseline: 200)
            },
        ]
        if question.duckDB("") != nil {
            rows.insert(Row(question.rawValue, unit: "ms", against: "DuckDB") { try measured.result().duckDB }, at: 1)
        } else {
            rows.insert(
                Row(question.rawValue, unit: "ms", against: "limit") {
                    Comparison(value: try measured.result().sqlite.value, baseline: 20)
                }, at: 1)
        }
        return rows
    }
}

/// The measurements of a question, made once for all its rows.
private final class AnswerMeasurement: @unchecked Sendable {  // right because rows are measured one after the other
    struct Result {
        var sqlite: Comparison
        var duckDB: Comparison
        var megabytes: Double
    }

    private let question: AnswerQuestion
    private var known: Result?

    init(of question: AnswerQuestion) { self.question = question }

    func result() throws -> Result {
        if let known { return known }
        let environment = ProcessInfo.processInfo.environment
        let (isBig, isCold) = (environment["BIG"] == "1", environment["COLD"] == "1")
        let store = try AnswerStore(millions: isBig ? 10 : 1)
        var (waybill, sqlite, duckDB): ([Double], [Double], [Double]) = ([], [], [])
        var megabytes = 0.0
        // The first round fills the system's caches.
        for round in 0..<(isBig ? 4 : 6) {
            if isCold { try Self.forgetFiles() }
            let ours = try AnswerProcess.measured(.waybill, question, store)
            if isCold { try Self.forgetFiles() }
            let theirs = try AnswerProcess.measured(.sqlite, question, store)
            guard !ours.figures.isEmpty, ours.figures == theirs.figures else {
                throw WaybillError(.store, "\(question): SQL says \(theirs.figures), Waybill says \(ours.figures).")
            }
            megabytes = max(megabytes, ours.megabytes)
            var other: Double?
            if let sql = question.duckDB(store.parquet.relativePath) {
                if isCold { try Self.forgetFiles() }
                let answer = try DuckDB.figures(sql)
                guard answer.figures == ours.figures else {
                    throw WaybillError(
                        .store, "\(question): DuckDB says \(answer.figures), Waybill says \(ours.figures).")
                }
                other = answer.milliseconds
            }
            guard round > 0 else { continue }
            waybill.append(ours.milliseconds)
            sqlite.append(theirs.milliseconds)
            if let other { duckDB.append(other) }
        }
        let result = Result(
            sqlite: Comparison(
                value: waybill.median, baseline: sqlite.median,
                ratioOfRounds: zip(waybill, sqlite).map { $0 / $1 }.median),
            duckDB: Comparison(
                value: waybill.median, baseline: duckDB.median,
                ratioOfRounds: zip(waybill, duckDB).map { $0 / $1 }.median),
            megabytes: megabytes)
        known = result
        return result
    }

    /// Makes Linux drop its cached file contents (proc(5), "drop_caches"), including programs, which are then read
    /// again.
    private static func forgetFiles() throws {
        sync()
        try Data("3".utf8).write(to: URL(filePath: "/proc/sys/vm/drop_caches"))
    }
}
