import Foundation
import WaybillCore
import WaybillStore

// Memory first: the memory that other rows leave behind would hide it.
var allRows: [Row] = [
    .memory, .exportMemory, .log, .logContext, .logHook, .logHookChange, .logWritten, .log8, .logOneCore,
    .logAllocations, .logFaults, .firstEvent,
]
allRows += Row.logLatencies
allRows += [.idle, .performNested, .disabledLog, .guid, .drain, .recover]
allRows += Row.bytesPerEvent
allRows += [
    .list, .encode, .decode, .redact, .redactRates, .redactText, .redactBody, .report, .reportSize, .exportNDJSON,
    .exportCSV,
]
allRows += Row.answers
allRows += Row.sessions
#if Tracing && Logging
allRows += Row.reported
#endif
#if Collector
allRows += [.collect, .collect4, .collectNaive, .collectLatency, .flush]
allRows += Row.processors + Row.servers
#endif

do {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch arguments.first {
    case "--soak": exit(try await Soak(arguments[1...]).run().finish() ? 0 : 1)
    case "--check":
        let ratios = try Ratios(of: allRows)
        exit(try await ratios.check(chosenRows(arguments[1...], among: allRows)) ? 0 : 1)
    case "--renew":
        try await Ratios(of: allRows).renew(chosenRows(arguments[1...], among: allRows))
        exit(0)
    // The processes that rows start.
    case "--serve": try BenchServer.serve()
    case "--idle" where arguments.count == 2:
        try await IdleApp.run(arguments[1])
        exit(0)
    case "--ask":
        try AnswerProcess.run(Array(arguments.dropFirst()))
        exit(0)
    case "--fill" where arguments.count == 3:
        let filled = try AnswerStore.fill(
            URL(filePath: arguments[2]), eventCount: Int(arguments[1]) ?? 1_000_000, hasTimedIDs: true)
        print(String(decoding: try JSONEncoder().encode(filled), as: UTF8.self))
        exit(0)
    case "--requests" where arguments.count == 2:
        try await SessionGrowth.run(arguments[1])
        exit(0)
    #if Collector
    case "--collector" where arguments.count == 2:
        try await ProcessorSeconds.collect(arguments[1])
        exit(0)
    case "--server" where arguments.count <= 2:
        try await ServedRequests.serve(arguments.dropFirst().first)
        exit(0)
    #endif
    default: break
    }
    let rows = try chosenRows(arguments, among: allRows)
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
