import TestSupport
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// The conditions of an exchange filter, and words in kept bodies.
@Suite(.timeLimit(.minutes(5))) struct ExchangeConditionTests {
    private let store: Store
    private let reader: StoreReader
    private let writer = FactWriter("shop", version: "1.2")

    init() throws {
        let place: ResolvedLocation
        (store, place) = try Store.inMemory()
        reader = try StoreReader(place)
    }

    /// Records exchanges and returns the path of each. All but `/outside` belong to one transaction.
    private func fill() throws -> [FactID: String] {
        writer.names = [RecordedName(useCase: 3, name: "checkout"), RecordedName(useCase: 3, event: 1, name: "paid")]
        let part = writer.open(GUID(), useCase: 3, attributes: ["variant": "B"], at: 0)
        writer.event(1, part: part, at: 0)
        var paths: [FactID: String] = [:]
        func exchange(
            _ host: String, _ path: String, method: String = "GET", part: Int64, took seconds: Int? = nil,
            received: Int64? = nil,
            error: RecordedError? = nil, socket: Fact.WebSocket? = nil
        ) {
            let opened = Fact.ExchangeOpened(method: method, scheme: "https", host: host, path: path)
            let sequence = writer.openExchange(opened, part: part, at: 10)
            paths[FactID(source: writer.id, sequence: sequence)] = path
            guard let seconds else { return }
            let closed = Fact.ExchangeClosed(
                exchange: sequence, state: error == nil ? .completed : .failed, status: error == nil ? 200 : nil,
                receivedByteCount: received, error: error, transfer: Fact.Transfer(webSocket: socket))
            writer.closeExchange(closed, part: part, at: 10 + seconds)
        }
        exchange("example.com", "/orders", part: part, took: 1, received: 100)
        exchange("API.example.com", "/orders/17", method: "POST", part: part, took: 3, received: 200_000)
        // The numbers in messages are not searchable words.
        let messages = Array(
            repeating: Fact.WebSocket.Message(atMicroseconds: 777_777, isSent: true, isText: true, byteCount: 1),
            count: 3)
        let socket = Fact.WebSocket(sentMessageCount: 3, closeCode: 1006, closeReason: "gone home", messages: messages)
        exchange("notexample.com", "/orders-of-today", part: part, took: 5, received: 300, socket: socket)
        exchange(
            "other.test", "/Orders/100%_x", part: part, took: 2, error: RecordedError(domain: "URLError", code: -1001))
        exchange("other.test", "/outside", part: 0)
        writer.close(part, .failed, at: 20)
        try writer.record(into: store)
        return paths
    }

    private func found(_ text: String, _ paths: [FactID: String]) throws -> Set<String> {
        let filter: ExchangeFilter = try FilterExpression(text, about: .exchanges).filter(
            names: reader.names(), now: FactWriter.wall)
        let page = try reader.exchanges(matching: filter, limit: 100, after: nil, now: FactWriter.wall)
        var all: Set<String> = []
        try reader.forEachExchange(matching: filter, now: FactWriter.wall) { all.insert(paths[$0.id] ?? "") }
        #expect(Set(page.rows.map { paths[$0.id] ?? "" }) == all, "a page and an export differ: \(text)")
        return all
    }

    @Test func everyTermLetsThroughWhatItSays() throws {
        let paths = try fill()
        let all = Set(paths.values)
        let inTransaction = all.subtracting(["/outside"])
        for (text, expected) in [
            ("host:example.com", ["/orders", "/orders/17"]), ("host:api.EXAMPLE.com", ["/orders/17"]),
            ("path:/orders", ["/orders", "/orders/17"]),
            ("path:orders/", ["/orders/17"]), ("path:/Orders", ["/Orders/100%_x"]),
            ("path:/Orders/100%_x", ["/Orders/100%_x"]),
            ("path:/Orders/1", []), ("method:post,head", ["/orders/17"]),
            ("status:200", ["/orders", "/orders/17", "/orders-of-today"]),
            ("state:failed,in_progress", ["/Orders/100%_x", "/outside"]), ("error:*", ["/Orders/100%_x"]),
            ("error:-1001", ["/Orders/100%_x"]), ("error:urlerr", ["/Orders/100%_x"]), ("error:7", []),
            ("took>2s", ["/orders/17", "/orders-of-today"]), ("took<2s", ["/orders"]), ("size>100kB", ["/orders/17"]),
            ("size<300B", ["/orders"]),
            ("close:1006", ["/orders-of-today"]), ("close:1000-1005", []), ("\"gone home\"", ["/orders-of-today"]),
            ("777777", []), ("-close:1006", Array(all.subtracting(["/orders-of-today"]))),
            ("app:SHOP version:1.2 os:linux device:device osVersion:6", Array(all)),
            ("app:other", []),
            ("os:\"Linux 6\"", Array(all)), ("os:\"Linux 60\"", []), ("useCase:checkout", Array(inTransaction)),
            ("outcome:failed", Array(inTransaction)), ("outcome:succeeded", []),
            ("event:paid attribute:variant=B", Array(inTransaction)),
            ("-event:paid", []), ("attribute:variant=A", []),
            ("-host:example.com -took>2s", ["/Orders/100%_x", "/outside"]),
            ("since:\(FactWriter.wall + 10_000_000)", Array(all)), ("until:\(FactWriter.wall + 10_000_000)", []),
            ("orders took>4s", ["/orders-of-today"]), ("-orders", ["/outside"]),
        ] { #expect(try found(text, paths) == Set(expected), "\(text)") }
    }

    /// Breaks when lists, exports and answers disagree about the case of a method.
    @Test(arguments: [["get"], ["GET"], ["Get", "HEAD"]]) func aMethodIsTheSameInAnyCase(methods: [String]) throws {
        for (method, path) in [("GET", "/capitals"), ("get", "/small"), ("POST", "/other")] {
            writer.openExchange(
                Fact.ExchangeOpened(method: method, scheme: "https", host: "a.test", path: path), part: 0)
        }
        try writer.record(into: store)
        let expected: Set = ["/capitals", "/small"]
        let urls = Set(expected.map { "https://a.test\($0)" })
        let filter = ExchangeFilter([.method(Set(methods))])
        var exported: Set<String> = []
        try reader.forEachExchange(matching: filter, now: FactWriter.wall) { exported.insert($0.exchange.url) }
        #expect(exported == urls)
        let page = try reader.exchanges(matching: filter, limit: 10, after: nil, now: FactWriter.wall)
        #expect(Set(page.rows.map(\.exchange.url)) == urls)
        let answer = try reader.answer(NetworkQuestion(filter: filter), now: FactWriter.wall)
        #expect(Set(answer.groups.compactMap(\.path)) == expected)
        let inWords: ExchangeFilter = try FilterExpression(
            "method:\(methods.joined(separator: ","))", about: .exchanges
        )
        .filter(names: nil, now: 0)
        let found = try reader.exchanges(matching: inWords, limit: 10, after: nil, now: FactWriter.wall)
        #expect(Set(found.rows.map(\.exchange.url)) == urls)
    }

    @Test func bothFiltersCannotSpeakOfTransactions() throws {
        _ = try fill()
        let filter = ExchangeFilter([.not(.event("paid"))])
        let query = NetworkQuestion(filter: filter, transactions: TransactionFilter())
        #expect(throws: WaybillError.self) { try reader.answer(query, now: FactWriter.wall) }
    }

    // MARK: Bodies

    private func keep(_ texts: [String], of exchange: Int64, _ direction: ExchangeBody.Direction) throws {
        for (number, text) in texts.enumerated() {
            let isLast = number == texts.count - 1
            let end = BodyPiece.End(byteCount: Int64(texts.joined().utf8.count), omission: nil, hash: nil)
            let piece = BodyPiece(
                part: 0, exchange: exchange, direction: direction, number: Int64(number), contentType: "text/plain",
                bytes: Array(text.utf8),
                end: isLast ? end : nil)
            #expect(try store.append([piece], of: writer.id, limit: 1 << 20).isEmpty)
        }
    }

    @Test func aWordIsFoundInBothBodiesInAnyCaseAndAcrossPieces() throws {
        let exchanges = (0..<4).map { writer.openExchange(Fact.ExchangeOpened(method: "GET", path: "/\($0)"), part: 0) }
        try writer.record(into: store)
        try keep(["{\"Basket\":\"red shoes\"}"], of: exchanges[0], .request)
        try keep(["one bas", "ket of äpples"], of: exchanges[1], .response)
        try keep(["nothing"], of: exchanges[2], .response)
        let paths = Dictionary(
            uniqueKeysWithValues: exchanges.enumerated().map { (FactID(source: writer.id, sequence: $1), "/\($0)") })
        #expect(try found("BASKET", paths) == ["/0", "/1"])
        #expect(try found("basket shoes", paths) == ["/0"])
        #expect(try found("\"äpples\"", paths) == ["/1"])
        #expect(try found("-basket", paths) == ["/2", "/3"])
        #expect(try found("baskets", paths) == [])
    }

    @Test func aSearchThatReachedItsLimitSaysSo() throws {
        let exchanges = (0..<3).map { writer.openExchange(Fact.ExchangeOpened(method: "GET", path: "/\($0)"), part: 0) }
        try writer.record(into: store)
        for exchange in exchanges { try keep(["basket and more"], of: exchange, .response) }
        let filter = ExchangeFilter([.text("basket")])
        func list(_ limit: Int64) throws -> (Set<Int64>, String?) {
            let list = try ExchangeList(filter, now: FactWriter.wall, bodyLimit: limit, reader.connection)
            return (Set(try list.keys(limit: 10, after: nil).map(\.sequence)), list.note)
        }
        #expect(try list(45) == (Set(exchanges), nil))
        let (sequences, note) = try list(44)
        #expect(sequences == Set(exchanges.dropFirst()), "The newest come first.")
        #expect(note?.hasPrefix("Only the newest") == true)
        #expect(try reader.exchanges(matching: filter, limit: 10, after: nil, now: FactWriter.wall).note == nil)
    }
}
