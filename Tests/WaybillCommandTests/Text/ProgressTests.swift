#if Collector
import Testing

@testable import WaybillCommand

/// Progress messages during long answers.
@Suite(.timeLimit(.minutes(5))) struct ProgressTests {
    private let seconds: AsyncStream<Void>
    private let second: AsyncStream<Void>.Continuation
    private let said: AsyncStream<String>
    private let saying: AsyncStream<String>.Continuation
    private static let clearLine = "\r\u{1B}[K"

    private struct Refusal: Error {}

    init() {
        (seconds, second) = AsyncStream.makeStream()
        (said, saying) = AsyncStream.makeStream()
    }

    /// Runs `body` with progress, on seconds that the test advances.
    private func shown(isTerminal: Bool, _ body: () async throws -> Int) async throws -> Int {
        try await Progress.shown(
            isTerminal: isTerminal,
            second: { [seconds] in
                for await _ in seconds { return }
                throw CancellationError()
            },
            say: { [saying] in saying.yield($0) }, body)
    }

    /// Returns all messages that no test has read yet.
    private func rest() async -> [String] {
        saying.finish()
        return await said.reduce(into: []) { $0.append($1) }
    }

    @Test func theSecondsOfALongAnswerAreCountedAndTheLineIsGoneAfterwards() async throws {
        let answer = try await shown(isTerminal: true) {
            var lines = said.makeAsyncIterator()
            for expected in ["\rreading … 1 s", "\rreading … 2 s"] {
                second.yield()
                #expect(await lines.next() == expected)
            }
            return 7
        }
        #expect(answer == 7)
        #expect(await rest() == [Self.clearLine])
    }

    @Test func theLineIsGoneAlsoWhereThereIsNoAnswer() async throws {
        await #expect(throws: Refusal.self) { try await shown(isTerminal: true) { throw Refusal() } }
        #expect(await rest() == [Self.clearLine])
    }

    @Test func elsewhereThanOnATerminalNothingIsSaid() async throws {
        second.yield()
        #expect(try await shown(isTerminal: false) { 7 } == 7)
        #expect(await rest().isEmpty)
    }
}
#endif
