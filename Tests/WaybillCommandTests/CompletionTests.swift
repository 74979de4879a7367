#if Collector
import Foundation
import TestSupport
import Testing

/// Shell completions.
@Suite(.timeLimit(.minutes(5))) struct CompletionTests {
    @Test(arguments: [
        (["as"], "ask"), (["ask", "dro"], "dropoff"), (["ask", "duration", "--fr"], "--from"),
        (["list", "--out"], "--outcome"),
        (["ser"], "serve"), (["list", "store", "--outcome", "fai"], "failed"),
    ])
    func bashCompletesWhatWasBegun(words: [String], completion: String) async throws {
        let script = try await Command.waybill("--generate-completion-script", "bash")
        #expect(script.status == 0)
        let folder = try TemporaryDirectory()
        let (file, output) = (folder.file("script"), folder.file("output"))
        let line = (["waybill"] + words).joined(separator: " ")
        let call = """

            COMP_WORDS=(\(line))
            COMP_CWORD=\(words.count)
            COMP_LINE='\(line)'
            COMP_POINT=\(line.count)
            complete -p waybill > /dev/null || exit 1
            _waybill waybill '\(words.last ?? "")' '\(words.dropLast().last ?? "waybill")'
            printf '%s\\n' "${COMPREPLY[@]}" > '\(output.path)'

            """
        try Data((script.output + call).utf8).write(to: file)
        let process = Process()
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["--norc", file.path]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.runAlone() } catch { continuation.resume(throwing: error) }
        }
        #expect(process.terminationStatus == 0)
        let replies = try String(contentsOf: output, encoding: .utf8).split(separator: "\n").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        #expect(replies.contains(completion), "\(replies)")
    }

    @Test(arguments: [("zsh", "#compdef waybill"), ("fish", "complete -c")]) func otherShellsHaveTheirs(
        shell: String, part: String
    )
        async throws
    {
        let script = try await Command.waybill("--generate-completion-script", shell)
        #expect(script.status == 0)
        #expect(script.output.contains(part))
        for verb in ["ask", "list", "serve"] { #expect(script.output.contains(verb)) }
    }
}
#endif
