#if Collector
import ArgumentParser
import Foundation
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

struct Reproduce: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a Swift test from a recorded transaction.",
        discussion: """
            The test answers the app's requests as the server did, by rules with the recorded delays. It expects the events before the failure, and that the use \
            case succeeds: it fails until the fault is fixed. Complete its closure, which starts the use case.

            For each service that joined the transaction, another test sends the recorded requests to a Hummingbird application, with the same header field.

            A collector has no bodies. If the app kept them on the device, name its store with --bodies; otherwise, the tests contain placeholders. All text \
            is redacted again. Existing files are not replaced.

            EXAMPLES
              waybill reproduce ./collected K7QD-3M2X --output Tests/ShopTests
              waybill reproduce ./collected K7QD-3M2X --bodies ./phone --output Tests
            """)

    @OptionGroup var place: StoreOptions

    @Argument(help: ArgumentHelp("The ID or support code of a transaction.", valueName: "id"))
    var key: String

    @Option(help: ArgumentHelp("The folder for the tests.", valueName: "folder"))
    var output = "."

    @Option(help: ArgumentHelp("The store that has the bodies, if STORE has none.", valueName: "store"))
    var bodies: StoreArgument?

    func run() async throws {
        let reproduction = try await reproduction()
        var files = AppTest(reproduction).map { [(name: reproduction.name(), source: $0.source)] } ?? []
        for service in reproduction.services {
            guard let test = ServiceTest(reproduction, service: service) else { continue }
            files.append((reproduction.name(service), test.source))
        }
        guard !files.isEmpty else {
            throw WaybillError(.notFound, "Neither an app nor a service has a part that a test can repeat.")
        }
        try Terminal.write(try write(files))
        if files.contains(where: { $0.source.contains(ExchangeBody.placeholder("")) }) {
            Terminal.warn(
                "Some bodies were not kept: replace each placeholder\(bodies == nil ? ", or pass --bodies" : "").")
        }
    }

    private func reproduction() async throws -> Reproduction {
        let store = try await place.opened()
        var records = [Redactor.command.redacted(try await store.transaction(key)).value]
        for child in records[0].family?.below.prefix(Reproduction.limits.descendants) ?? [] {
            records.append(Redactor.command.redacted(try await store.transaction(child.id.description)).value)
        }
        var place = place
        if let bodies { place.store = bodies }
        let kept = try await place.opened(isTold: false).bodies(
            of: records.flatMap(\.exchanges).map(\.id), limit: Reproduction.limits.bodyBytes
        ).bodies
        return Reproduction(records: records, bodies: Redactor.command.redacted(kept).value)
    }

    /// Returns the paths.
    private func write(_ files: [(name: String, source: String)]) throws -> [String] {
        let folder = URL(filePath: output, directoryHint: .isDirectory)
        let targets = files.map { folder.appending(path: "\($0.name).swift") }
        if let file = targets.first(where: { FileManager.default.fileExists(atPath: $0.path(percentEncoded: false)) }) {
            throw WaybillError(
                .setting, "\(file.relativePath) exists, maybe with your changes. Delete it, or choose another folder.")
        }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for (file, target) in zip(files, targets) {
                try Data(file.source.utf8).write(to: target, options: .withoutOverwriting)
            }
        } catch {
            throw WaybillError(.setting, "Can't write the tests into \(output).", cause: "\(error)")
        }
        return targets.map(\.relativePath)
    }
}
#endif
