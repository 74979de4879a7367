#if Collector
import Foundation
import WaybillCollector

/// Says on a terminal that something goes on, where it takes longer than a second.
enum Progress {
    /// What `body` returns; meanwhile a line of standard error counts the seconds, and is gone afterwards.
    ///
    /// - Parameters:
    ///   - isTerminal: Otherwise nothing is said.
    ///   - second: Lets one go by.
    ///   - say: Where the line goes.
    static func shown<Value: Sendable>(
        isTerminal: Bool = isatty(STDERR_FILENO) == 1,
        second: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(1)) },
        say: @escaping @Sendable (String) -> Void = { Terminal.ask($0) }, _ body: () async throws -> Value
    ) async throws -> Value {
        guard isTerminal else { return try await body() }
        let line = Task {
            var seconds = 0
            while true {
                try await second()
                seconds += 1
                say("\r" + text(after: seconds))
            }
        }
        let value = await Result { try await body() }
        line.cancel()
        _ = await line.result
        say(clearLine)
        return try value.get()
    }

    /// `reading … 12 s`.
    static func text(after seconds: Int) -> String { "reading … \(seconds) s" }

    /// To the line's beginning, and away with it (ECMA-48, EL).
    private static let clearLine = "\r\u{1B}[K"
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
#endif
