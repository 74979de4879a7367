#if Logging
import Logging
import Testing
import Waybill
import WaybillCore
import WaybillLogging
import WaybillQueries
import WaybillTesting

private enum Login: Int, UseCase {
    static let code = 0
    case initiated = 0
}

private struct Broken: Error {}

/// Log lines are part of the transaction that they are written in, and do it no harm.
@Suite(.timeLimit(.minutes(5))) struct TransactionLogHandlerTests {
    let tx = TransactionManager.testing()

    private var events: [TransactionRecord.Entry] {
        get throws { try tx.transactions(Login.self).flatMap { $0.timeline.filter { $0.kind == .event } } }
    }

    private func logger(
        _ level: Logger.Level = .info, metadataProvider: Logger.MetadataProvider? = nil
    ) -> Logger {
        Logger(label: "shop") { TransactionLogHandler(label: $0, logLevel: level, metadataProvider: metadataProvider) }
    }

    @Test func aLineIsAnEventOfTheTransactionItIsWrittenIn() throws {
        var logger = logger()
        logger[metadataKey: "region"] = "eu"
        tx.perform(Login.self) { login in
            logger.info("cart loaded", metadata: ["items": "3", "tags": ["a", "b"]])
            login.log(.initiated)
            logger.error("payment failed", error: Broken())
        }
        #expect(try events.map(\.label) == ["log.info", "initiated", "log.error"])
        #expect(
            try events[0].attributes
                == ["message": "cart loaded", "logger": "shop", "region": "eu", "items": "3", "tags": #"["a","b"]"#])
        #expect(try events[2].error?.domain.hasSuffix("Broken") == true)
    }

    @Test func outsideAnyTransactionNothingIsRecordedAndNothingFormatted() throws {
        let asked = Locked(0)
        let provider = Logger.MetadataProvider {
            asked.withLock { $0 += 1 }
            return [:]
        }
        logger(metadataProvider: provider).info("alone")
        #expect(try tx.allRecords().isEmpty)
        #expect(asked.withLock { $0 } == 0)
    }

    @Test func theLevelDecides() throws {
        tx.perform(Login.self) { _ in
            var logger = logger(.warning)
            logger.info("quiet")
            logger.warning("loud")
            logger.logLevel = .trace
            logger.trace("all")
        }
        #expect(try events.map(\.label) == ["log.warning", "log.trace"])
    }

    @Test func secretsAreTakenOut() throws {
        tx.perform(Login.self) { _ in
            logger().info(
                "mail to ada@example.com",
                metadata: ["password": "s3cret", "nested": ["authorization": "Bearer abcdefghijklmnop"]])
        }
        let said = try events.flatMap { $0.attributes.map { "\($0.value)" } }.joined()
        #expect(!said.contains("s3cret") && !said.contains("ada@") && !said.contains("abcdefghijklmnop"))
        #expect(try events.first?.attributes["password"] == "[redacted]")
    }

    /// Breaks when the same line differs from run to run, or a secret's place in it is not known.
    @Test func nestedMetadataIsJSONInOneOrderWithoutSecrets() throws {
        let members = (0..<20).map { ("name\($0)", Logger.MetadataValue.string("\($0)")) }
        tx.perform(Login.self) { _ in
            logger().info(
                "x",
                metadata: [
                    "dict": [
                        "b": ["c": "2", "quote": "\"", "id": .stringConvertible(7)], "a": "1",
                        "authorization": "abc", "list": ["x", ["password": "hunter2", "ok": "fine"]],
                    ],
                    "many": .dictionary(Dictionary(uniqueKeysWithValues: members)),
                    "deep": (0..<50).reduce("end") { value, _ in ["in": value] },
                ])
        }
        let attributes = try events.first?.attributes ?? [:]
        #expect(
            attributes["dict"]
                == #"{"a":"1","authorization":"[redacted]","b":{"c":"2","id":"7","quote":"\""},"list":["x",{"ok":"fine","password":"[redacted]"}]}"#
        )
        let sorted = members.sorted { $0.0 < $1.0 }.map { "\"\($0.0)\":\"\($0.1)\"" }.joined(separator: ",")
        #expect(attributes["many"] == .string("{\(sorted)}"))
        #expect(attributes["deep"]?.description.contains("…") == true)
    }

    /// Breaks when a loop that logs fills a store.
    @Test func aPartHasAThousandLines() throws {
        tx.perform(Login.self) { login in
            for number in 0..<1_500 { logger().info("line \(number)") }
            #expect(login.log(.initiated) == .inMemory, "the app's own events have room")
        }
        #expect(try events.count == 1_001)
        #expect(tx.health.omittedReports == 500)
        #expect(tx.health.isGood)
    }

    @Test func whereThereIsNoRoomForAllMetadataTheMessageStays() throws {
        let many = Dictionary(uniqueKeysWithValues: (0..<50).map { ("key\($0)", Logger.MetadataValue.string("v")) })
        tx.perform(Login.self) { _ in
            logger().info("kept", metadata: many.merging(["message": "mine"]) { $1 })
            logger().info("kept", metadata: ["message": "mine"])
        }
        #expect(try events.map { $0.attributes["message"] } == ["kept", "kept"])
        #expect(try events.map { $0.attributes.count } == [Limits.attributes, 3])
        #expect(try events.last?.attributes["metadata.message"] == "mine")
        #expect(tx.health.truncated == 21)
    }

    /// Breaks when the manager's own messages, written to the app's log, are recorded and cause new messages.
    @Test func whatIsLoggedWhileALineIsRecordedIsNot() throws {
        let logger = logger()
        var options = TransactionManager.Options()
        let asked = Locked(0)
        options.diagnostics = { logger.error("\($0)") }
        options.willRecord = { draft in
            asked.withLock { $0 += 1 }
            logger.info("asked")
            return draft
        }
        let tx = TransactionManager.testing { $0 = options }
        tx.perform(Login.self) { _ in logger.info("once") }
        let labels = try tx.transactions(Login.self).flatMap { $0.timeline.map(\.label) }
        #expect(labels.count { $0 == "log.info" } == 1)
        #expect(asked.withLock { $0 } < 10)
    }

    @Test func otherHandlersWriteTheTransactionBesideEachLine() throws {
        let lines = Locked<[Logger.Metadata]>([])
        let id = tx.perform(Login.self) { login in
            let logger = Logger(label: "shop") { label in
                MultiplexLogHandler(
                    [Lines(lines: lines), TransactionLogHandler(label: label)], metadataProvider: .transaction)
            }
            logger.info("both")
            return login.id
        }
        #expect(lines.withLock { $0.map { "\($0["transaction"] ?? "")" } } == ["\(id)"])
        #expect(lines.withLock { $0.map { "\($0["support-code"] ?? "")" } } == ["\(id.supportCode)"])
        #expect(
            try events.map(\.attributes) == [["message": "both", "logger": "shop"]], "the event is in the transaction")
        #expect(Logger.MetadataProvider.transaction.get().isEmpty)
    }

    /// Stores the metadata of each line.
    private struct Lines: LogHandler {
        let lines: Locked<[Logger.Metadata]>
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]
        var metadataProvider: Logger.MetadataProvider?

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.withLock { $0.append(event.metadata ?? [:]) } }
    }
}
#endif
