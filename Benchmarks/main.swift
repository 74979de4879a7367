import Foundation
import WaybillCore
import WaybillStore

// Memory first: what the other rows leave behind would hide it.
var allRows: [Row] = [
    .memory, .exportMemory, .log, .logContext, .logHook, .logHookChange, .logWritten, .log8, .logAllocations,
    .logFaults,
]
allRows += Row.logLatencies
allRows += [.performNested, .disabledLog, .guid, .drain, .recover]
allRows += Row.bytesPerEvent
allRows += [
    .list, .encode, .decode, .redact, .redactRates, .redactText, .redactBody, .report, .reportSize, .exportNDJSON,
    .exportCSV,
]
allRows += Row.answers
allRows += Row.sessions
#if Collector
allRows += [.collect, .collect4, .collectNaive, .collectLatency, .flush]
#endif

do {
    if CommandLine.arguments.dropFirst().first == "--soak" {
        exit(try await Soak(CommandLine.arguments.dropFirst()).run().finish() ? 0 : 1)
    }
    if CommandLine.arguments.dropFirst() == ["--serve"] { try BenchServer.serve() }
    if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--requests" {
        try await SessionGrowth.run(CommandLine.arguments[2])
        exit(0)
    }
    if CommandLine.arguments.dropFirst().first == "--ask" {
        try AnswerProcess.run(Array(CommandLine.arguments.dropFirst(2)))
        exit(0)
    }
    let rows = try chosenRows(CommandLine.arguments.dropFirst(), among: allRows)
    let table = Table(rows)
    print(table.head)
    var results: [Result] = []
    for row in rows {
        let result = Result(row, try await row.measure())
        results.append(result)
        print(table.line(result))
        fflush(nil)  // each row as it comes, also into a file
    }
    try Result.write(results, to: URL(filePath: ".build/bench.json"))
} catch let usage as UsageError {
    FileHandle.standardError.write(Data((usage.sentence + "\n").utf8))
    exit(64)  // EX_USAGE of sysexits.h
} catch {
    FileHandle.standardError.write(Data("A row could not be measured: \(error)\n".utf8))
    exit(1)
}
