import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Logins one after the other: eight events, with one request in the middle.
public enum Work {
    /// Follows the arguments. `FOLDER URL LOGINS` writes the nanoseconds of calls as JSON to `FOLDER.json` at the end.
    /// `FOLDER URL until-killed` writes the number of events recorded so far to `FOLDER.count`, in eight bytes.
    public static func run<P: Peer>(_ peer: P.Type) async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let url = URL(string: arguments[2]) else {
            return print("usage: \(arguments[0]) FOLDER URL LOGINS|until-killed")
        }
        let peer = try P(folder: URL(filePath: arguments[1]))
        let request = URLRequest(url: url)
        guard let count = Int(arguments[3]) else {
            let count = try Count(file: arguments[1] + ".count")
            while true { try await login(peer, request) { count.increment() } }
        }
        var events = Durations()
        var requests = Durations()
        for _ in 0..<count {
            try await login(peer, request, events: &events, requests: &requests)
        }
        try await peer.finish()
        let figures = Figures(events: events.percentiles, requests: requests.percentiles)
        try JSONEncoder().encode(figures).write(to: URL(filePath: arguments[1] + ".json"))
    }

    private struct Figures: Encodable {
        var events: Percentiles
        var requests: Percentiles
    }

    private static func login<P: Peer>(
        _ peer: P, _ request: URLRequest, events: inout Durations, requests: inout Durations
    ) async throws {
        let login = peer.begin()
        for step in Step.allCases {
            if step == .responseReceived {
                let start = Durations.now()
                try check(await peer.send(request, in: login))
                requests.add(since: start)
            }
            let start = Durations.now()
            peer.log(step, in: login)
            events.add(since: start)
        }
        peer.end(login)
    }

    private static func login<P: Peer>(_ peer: P, _ request: URLRequest, recorded: () -> Void) async throws {
        let login = peer.begin()
        for step in Step.allCases {
            if step == .responseReceived { try check(await peer.send(request, in: login)) }
            peer.log(step, in: login)
            recorded()
        }
        peer.end(login)
    }

    private static func check(_ answer: (Data, URLResponse)) throws {
        guard (answer.1 as? HTTPURLResponse)?.statusCode == 200, !answer.0.isEmpty else {
            throw URLError(.badServerResponse)
        }
    }
}
