import Foundation
import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The use case. Events from 10 up are the server's, see Examples/PythonServer.
enum Sync: Int, UseCase {
    static let code = 7

    case started = 0, notesReceived = 1, notesWritten = 2
    case serverStarted = 10, notesRead = 11
}

/// Fetches notes and writes each into a file: `SyncNotes SERVER FOLDER`, and tells a collector what happened if
/// `WAYBILL_COLLECTOR` says where.
@main
struct SyncNotes {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let server = URL(string: arguments[1]), let host = server.host() else {
            print("usage: SyncNotes SERVER FOLDER")
            exit(64)
        }
        let transactions = TransactionManager(correlatedHosts: [host]) { options in
            options.obeysLaunchSettings = true  // WAYBILL_COLLECTOR, WAYBILL_RECORDING=off and so on
        }

        let sync = transactions.begin(Sync.self)
        do {
            let count = try await sync.perform { sync in
                sync.log(.started)
                let (data, _) = try await transactions.session.data(
                    from: server.appending(path: "notes"), requiring: 200..<300)
                let notes = try JSONDecoder().decode([String: String].self, from: data)
                sync.log(.notesReceived, attributes: ["count": .integer(notes.count)])
                for (name, text) in notes {
                    try Data(text.utf8).write(to: URL(filePath: arguments[2]).appending(path: name))
                }
                sync.log(.notesWritten)
                return notes.count
            }
            print("\(count) notes written.")
        } catch {
            print("The notes could not be synced. For support: \(sync.supportCode)")
        }

        // Without a collector, the facts stay in the store, and a later run delivers them.
        guard transactions.delivery != nil else { return }
        let report = await transactions.flush(deadline: .seconds(5))
        print("\(report.delivered) facts delivered, \(report.pending) kept for the next time.")
    }
}
