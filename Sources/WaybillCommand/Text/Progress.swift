#if Collector
import Foundation

/// Says on a terminal that something goes on, where it takes longer than a second.
enum Progress {
    /// What `body` returns; meanwhile a line of standard error counts the seconds, and is gone afterwards.
    static func shown<Value: Sendable>(
        isTerminal: Bool = isatty(STDERR_FILENO) == 1, _ body: () async throws -> Value
    ) async throws -> Value {
        guard isTerminal else { return try await body() }
        let line = Task {
            let start = ContinuousClock.now
            while true {
                try await Task.sleep(for: .seconds(1))
                Terminal.ask("\r" + text(after: ContinuousClock.now - start))
            }
        }
        let value = await Result { try await body() }
        line.cancel()
        _ = await line.result
        Terminal.ask(clearLine)
        return try value.get()
    }

    /// `reading … 12 s`.
    static func text(after duration: Duration) -> String { "reading … \(duration.components.seconds) s" }

    /// To the line's beginning, and away with it (ECMA-48, EL).
    private static let clearLine = "\r\u{1B}[K"
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
#endif
