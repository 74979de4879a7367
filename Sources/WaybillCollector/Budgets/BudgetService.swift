#if Collector
package import Foundation
package import Logging
import ServiceLifecycle
import Waybill
package import WaybillCore
import WaybillExport
import WaybillQueries

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Checks budgets once a minute, and posts each limit that breaks or holds again.
package struct BudgetService: Service {
    private let collector: Collector
    private let budgets: [Budget]
    private let webhook: Webhook
    private let logger: Logger
    private let pause: @Sendable (Duration) async throws -> Void

    package init(
        _ collector: Collector, _ budgets: [Budget], to webhook: Webhook, logger: Logger,
        pause: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.collector = collector
        self.budgets = budgets
        self.webhook = webhook
        self.logger = logger
        self.pause = pause
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            var watches: [ProjectName: BudgetWatch] = [:]
            while !Task.isCancelled {
                for project in collector.projects.all where !Task.isCancelled {
                    await check(project, &watches[project.name])
                }
                try? await pause(.seconds(60))
            }
        }
    }

    private func check(_ project: Project, _ watch: inout BudgetWatch?) async {
        do {
            var current = try watch ?? BudgetWatch(project.budgetsFile)
            defer { watch = current }
            var changed: [CheckedLimit] = []
            for (index, budget) in budgets.enumerated() {
                do {
                    changed += try await budget.checked(in: project.store, now: collector.clock.wallMicroseconds())
                        .filter(current.isChanged)
                    current.failures[index] = nil
                } catch {
                    // Logged once, and not every minute.
                    let sentence = "\(error)"
                    guard !Task.isCancelled, current.failures[index] != sentence else { continue }
                    current.failures[index] = sentence
                    log("a budget is not checked", sentence, of: project)
                }
            }
            changed = Array(changed.prefix(BudgetNotice.limitCount))
            if changed.isEmpty {
                current.attemptCount = 0
            } else {
                try await post(changed, of: project, &current)
            }
        } catch {
            log("budgets wait", "\(error)", of: project)
        }
    }

    private func post(_ changed: [CheckedLimit], of project: Project, _ watch: inout BudgetWatch) async throws {
        let owing = try await project.store.read(.sources) { try $0.owingSourceCount() }
        do {
            try await webhook.post(
                collector.redactor.redacted(
                    BudgetNotice(project: project.name.description, owingSources: owing, limits: changed)))
        } catch {
            guard !Task.isCancelled else { return }
            project.counters.count { $0.failedPosts += 1 }
            watch.attemptCount += 1
            guard watch.attemptCount >= BudgetWatch.attemptLimit else { throw error }
            log("the webhook gets no further posts about this change", "\(error)", of: project)
            return try watch.told(changed)
        }
        try watch.told(changed)
        project.counters.count { $0.acceptedPosts += 1 }
    }

    private func log(_ what: String, _ why: String, of project: Project) {
        logger.warning("waybill: \(what): \(why)", metadata: ["project": "\(project.name)"])
    }
}

/// The limits that were posted as broken. A file keeps them over restarts.
private struct BudgetWatch {
    static let attemptLimit = 60

    private let file: URL
    private var broken: Set<CheckedLimit> = []
    var attemptCount = 0
    /// The latest error of each budget, by its position.
    var failures: [Int: String] = [:]

    init(_ file: URL) throws(WaybillError) {
        self.file = file
        guard let bytes = try WholeFile.read(file) else { return }
        // An unreadable file only causes repeated posts.
        broken = (try? JSONDecoder.waybill().decode(Set<CheckedLimit>.self, from: Data(bytes))) ?? []
    }

    func isChanged(_ limit: CheckedLimit) -> Bool {
        limit.verdict != .undecided && (limit.verdict == .broken) != broken.contains(limit.withoutValue)
    }

    mutating func told(_ changed: [CheckedLimit]) throws {
        attemptCount = 0
        for limit in changed {
            if limit.verdict == .broken {
                broken.insert(limit.withoutValue)
            } else {
                broken.remove(limit.withoutValue)
            }
        }
        let bytes = Array(try JSONEncoder.waybill().encode(broken))
        try WholeFile.write(to: file) { bytes }
    }
}

extension CheckedLimit {
    fileprivate var withoutValue: CheckedLimit {
        var limit = self
        (limit.found, limit.verdict) = ("", .broken)
        return limit
    }
}

package struct BudgetNotice: Encodable, Redactable {
    /// Further limits follow a minute later.
    static let limitCount = 50
    private static let foundLength = 300

    var project: String
    var owingSources: Int64
    var limits: [CheckedLimit]
    private(set) var text = ""

    package mutating func redact(by redactor: Redactor) {
        limits.redact(by: redactor)
        for index in limits.indices {
            limits[index].found = String(limits[index].found.prefix(Self.foundLength)).printable
        }
        let lines = limits.map { limit in
            let verdict = limit.verdict == .broken ? "broken" : "holds again"
            return "\(limit.useCase): \(limit.limit): \(verdict), found \(limit.found)"
        }
        let owing =
            "\(Words.count(Int(clamping: owingSources), "source")) still \(owingSources == 1 ? "owes" : "owe") facts."
        text = (lines + (owingSources > 0 ? [owing] : [])).joined(separator: "\n")
    }
}

/// Messages have only its host, because the path can be secret.
package struct Webhook: Sendable {
    private let url: URL
    private let http = HTTPSession(configuration: .ephemeral)

    package init(_ url: URL) throws(WaybillError) {
        guard ["http", "https"].contains(url.scheme?.lowercased()), url.host()?.isEmpty == false else {
            throw WaybillError(.setting, "The webhook's address is no HTTP URL; give it as https://HOST/PATH.")
        }
        self.url = url
    }

    func post(_ notice: Redacted<BudgetNotice>) async throws {
        let place = [url.host(), url.port?.description].compactMap(\.self).joined(separator: ":")
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        let body = try JSONEncoder.waybill().encode(notice.value)
        let status: Int
        do throws(URLError) {
            let (_, response) = try await http.data(
                for: request, uploading: body, redirects: .refuse, deadline: .seconds(10), limit: 64 << 10)
            status = (response as? HTTPURLResponse)?.statusCode ?? 0
        } catch {
            throw WaybillError(
                .transport, "The webhook at \(place) cannot be reached.", cause: "URLError \(error.code.rawValue)")
        }
        guard (200...299).contains(status) else {
            throw WaybillError(.refused, "The webhook at \(place) answered \(status).")
        }
    }
}
#endif
