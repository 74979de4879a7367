import CWaybillSQLite
import Foundation
import WaybillCore
import WaybillStore

/// One question, asked once in a separate process, to measure its memory alone:
/// `Benchmarks --ask waybill|sqlite QUESTION FOLDER`.
struct AnswerProcess: Codable {
    enum Engine: String { case waybill, sqlite }

    var milliseconds: Double
    /// The peak memory of the process.
    var megabytes: Double
    var figures: [Int64]

    /// Measures in a child process.
    static func measured(_ engine: Engine, _ question: AnswerQuestion, _ store: AnswerStore) throws -> AnswerProcess {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--ask", engine.rawValue, question.rawValue, store.folder.path(percentEncoded: false)]
        process.standardOutput = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return try JSONDecoder().decode(AnswerProcess.self, from: text)
    }

    /// In the child: prints the measurement.
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 3, let engine = Engine(rawValue: arguments[0]),
            let question = AnswerQuestion(rawValue: arguments[1])
        else {
            throw UsageError(sentence: "Usage: Benchmarks --ask waybill|sqlite QUESTION FOLDER.")
        }
        let folder = URL(filePath: arguments[2])
        let start = ContinuousClock.now
        let figures: [Int64]
        switch engine {
        case .waybill: figures = try question.ask(StoreReader(.folder(folder)))
        case .sqlite: figures = try rows(of: question.sqlite, folder.appending(path: "waybill.sqlite"))
        }
        let measured = AnswerProcess(
            milliseconds: (ContinuousClock.now - start) / .milliseconds(1), megabytes: PeakMemory.megabytes(),
            figures: figures)
        print(String(decoding: try JSONEncoder().encode(measured), as: UTF8.self))
    }

    /// Returns all numbers that the statements give, in order.
    private static func rows(of statements: [String], _ file: URL) throws -> [Int64] {
        var database: OpaquePointer?
        guard sqlite3_open_v2(file.path(percentEncoded: false), &database, SQLITE_OPEN_READONLY, nil) == SQLITE_OK
        else {
            throw WaybillError(.store, "The store cannot be opened.")
        }
        defer { sqlite3_close(database) }
        var numbers: [Int64] = []
        for sql in statements {
            var statement: OpaquePointer?
            guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else {
                throw WaybillError(
                    .store, "A statement does not fit the schema: \(String(cString: sqlite3_errmsg(database)))")
            }
            while sqlite3_step(statement) == SQLITE_ROW {
                for column in 0..<sqlite3_column_count(statement) {
                    numbers.append(sqlite3_column_int64(statement, column))
                }
            }
            sqlite3_finalize(statement)
        }
        return numbers
    }
}
