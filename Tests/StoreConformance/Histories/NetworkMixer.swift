package import TestSupport
import WaybillCore

/// Varies the exchanges of histories in everything that a question about the network distinguishes.
package struct NetworkMixer {
    package var random: RandomNumbers

    package init(random: RandomNumbers) { self.random = random }

    /// Paths, and how they look with their IDs folded.
    package static let paths = [
        "/login": "/login", "/users/1": "/users/{id}", "/users/22": "/users/{id}", "/users/9f3c21d7": "/users/{id}",
        "/log/2026-03-01": "/log/{date}",
    ]

    package mutating func mix(_ histories: [SourceHistory]) -> [SourceHistory] {
        var histories = histories
        for history in histories.indices {
            for fact in histories[history].facts.indices {
                switch histories[history].facts[fact].content {
                case .exchangeOpened(var opened):
                    opened.path = Self.paths.keys.sorted().randomElement(using: &random) ?? "/"
                    opened.host =
                        [nil, "api.example.com", "API.example.com", "cdn.example.com"].randomElement(using: &random)
                        ?? nil
                    opened.method = random.oneIn(3) ? "GET" : "POST"
                    histories[history].facts[fact].content = .exchangeOpened(opened)
                case .exchangeClosed(var closed):
                    closed.state = ExchangeState.allCases.randomElement(using: &random) ?? .failed
                    closed.status =
                        [nil, 101, 200, 204, 304, 399, 400, 404, 500, 599, 600].randomElement(using: &random) ?? nil
                    closed.sentByteCount = random.oneIn(2) ? Int64.random(in: 0...9_000, using: &random) : nil
                    closed.receivedByteCount = random.oneIn(2) ? Int64.random(in: 0...9_000, using: &random) : nil
                    if random.oneIn(2) {
                        closed.error = RecordedError(
                            domain: random.oneIn(2) ? "" : "D", code: random.oneIn(2) ? 1 : 2,
                            name: random.oneIn(3) ? "late" : nil, text: "try \(fact)")
                        if random.oneIn(3) {
                            closed.error = RecordedError(domain: "NSURLErrorDomain", code: -1001)
                        }
                    }
                    histories[history].facts[fact].content = .exchangeClosed(closed)
                default: break
                }
            }
        }
        return histories
    }
}
