import TestSupport
import WaybillCore
import WaybillQueries
import WaybillStore

/// A quarter of an hour in a shop's app, with the forms that a transaction can take: several sources, a retry, no end,
/// late facts.
struct ShopRecords {
    /// 2026-03-01T12:00:00Z.
    static let start = LoginHistory.begun
    /// A quarter of an hour after `start`.
    static let made = start + 900_000_000

    private let app = ShareWriter(
        "com.example.shop", "4.2.0", device: "iPhone17,1", os: "iOS", "18.5", names: Self.names)
    private let shop = ShareWriter("shop-api", "2026.3", device: "x86_64", os: "Linux", "6.8", names: Self.names)
    private let payments = ShareWriter("payments", "1.19", device: "arm64", os: "Linux", "6.8", names: Self.names)

    /// Returns the records that a collector with data from all three sources would show.
    static func all() throws -> [TransactionRecord] {
        let records = ShopRecords()
        records.write()
        let place = ResolvedLocation.memory(name: GUID().description)
        let store = try Store(place)
        let shares = [records.app.share(), records.shop.share(), records.payments.share()]
        _ = try store.ingest(TransactionSet(id: GUID(), sources: shares), receivedAt: made)
        let reader = try StoreReader(place)
        let page = try reader.transactions(matching: TransactionFilter(), limit: 100, after: nil, now: made)
        return try page.rows.compactMap { try reader.transaction($0.id, now: made) }
    }

    private func write() {
        login(at: 12_400_000)
        search(at: 71_000_000)
        purchase(at: 190_000_000)
        refusedPurchase(at: 402_000_000)
        offlineSync(at: 512_000_000)
        leftCheckout(at: 640_000_000)
        runningSync(at: 884_000_000)
    }

    private func login(at time: Int64) {
        let transaction = GUID()
        let part = app.open(0, of: transaction, at: time, ["variant": "B"])
        app.log(0, in: part, at: time + 400)
        app.log(1, in: part, at: time + 6_210_000)
        let request = app.send("POST", "api.shop.example", "/v2/session", in: part, at: time + 6_211_000)
        let served = shop.open(0, of: transaction, by: request, at: time + 6_250_000)
        shop.log(10, in: served, at: time + 6_290_000)
        shop.close(served, at: time + 6_301_000)
        app.receive(200, for: request, in: part, firstByte: time + 6_340_000, at: time + 6_349_000)
        app.log(2, in: part, at: time + 6_351_000)
        app.close(part, at: time + 6_352_000)
    }

    private func search(at time: Int64) {
        let part = app.open(3, of: GUID(), at: time, ["source": "deep link"])
        let request = app.send(
            "GET", "api.shop.example", "/v2/products", query: "q=raincoat&page=1&token=[redacted]", in: part,
            at: time + 900)
        app.receive(200, for: request, in: part, firstByte: time + 88_000, at: time + 141_000, bytes: 48_210)
        app.log(0, in: part, at: time + 150_000, ["results": 37, "cached": false])
        app.close(part, at: time + 151_000)
    }

    private func purchase(at time: Int64) {
        let transaction = GUID()
        let part = app.open(1, of: transaction, at: time, ["variant": "A", "items": 3])
        for (code, after) in [(0, 200), (1, 38_000), (2, 61_000)] as [(Int, Int64)] {
            app.log(code, in: part, at: time + after)
        }
        let price = app.send("GET", "api.shop.example", "/v2/cart/price", in: part, at: time + 64_000)
        let priced = shop.open(1, of: transaction, by: price, at: time + 80_000)
        shop.log(10, in: priced, at: time + 96_000)
        shop.close(priced, at: time + 104_000)
        app.receive(200, for: price, in: part, firstByte: time + 118_000, at: time + 131_000)
        app.log(3, in: part, at: time + 134_000)
        let failed = app.send("POST", "api.shop.example", "/v2/orders", in: part, at: time + 140_000)
        app.receive(
            nil, for: failed, in: part, at: time + 242_000, bytes: nil,
            error: RecordedError(domain: "NSURLErrorDomain", code: -1005))
        app.log(
            4, in: part, at: time + 243_000, error: RecordedError(domain: "NSURLErrorDomain", code: -1005),
            ["attempt": 1])
        let order = app.send("POST", "api.shop.example", "/v2/orders", in: part, at: time + 290_000)
        let ordered = shop.open(1, of: transaction, by: order, at: time + 308_000)
        shop.log(11, in: ordered, at: time + 312_000)
        let charge = shop.send("POST", "payments.internal", "/charges", in: ordered, at: time + 320_000)
        let charged = payments.open(1, of: transaction, by: charge, at: time + 326_000)
        payments.log(20, in: charged, at: time + 331_000, ["provider": "acquirer-2"])
        payments.log(
            21, in: charged, at: time + 512_000,
            ["answer": "{\"approved\":true,\"risk\":{\"score\":0.12,\"rules\":[]},\"retry\":null}"])
        payments.close(charged, at: time + 515_000)
        shop.receive(201, for: charge, in: ordered, firstByte: time + 519_000, at: time + 521_000, bytes: 310)
        shop.log(12, in: ordered, at: time + 540_000)
        shop.close(ordered, at: time + 548_000)
        app.receive(201, for: order, in: part, firstByte: time + 566_000, at: time + 571_000)
        app.log(5, in: part, at: time + 575_000)
        app.close(part, at: time + 590_000)
        app.log(6, in: part, at: time + 640_000)
    }

    private func refusedPurchase(at time: Int64) {
        let transaction = GUID()
        let declined = RecordedError(domain: "PaymentError", code: 51, text: "insufficient funds")
        let part = app.open(1, of: transaction, at: time, ["variant": "B", "items": 1])
        app.log(0, in: part, at: time + 300)
        app.log(3, in: part, at: time + 21_000)
        let order = app.send("POST", "api.shop.example", "/v2/orders", in: part, at: time + 22_000)
        let ordered = shop.open(1, of: transaction, by: order, at: time + 41_000)
        let charge = shop.send("POST", "payments.internal", "/charges", in: ordered, at: time + 47_000)
        let charged = payments.open(1, of: transaction, by: charge, at: time + 52_000)
        payments.log(22, in: charged, at: time + 205_000, error: declined)
        payments.close(charged, .failed, at: time + 206_000, error: declined)
        shop.receive(402, for: charge, in: ordered, firstByte: time + 209_000, at: time + 210_000, bytes: 96)
        shop.close(ordered, .failed, at: time + 214_000, error: RecordedError(code: 402))
        app.receive(402, for: order, in: part, firstByte: time + 238_000, at: time + 240_000, bytes: 120)
        app.close(part, .failed, at: time + 246_000, error: RecordedError(domain: "ShopError", code: 402))
    }

    private func offlineSync(at time: Int64) {
        let offline = RecordedError(domain: "NSURLErrorDomain", code: -1009)
        let part = app.open(2, of: GUID(), at: time)
        let request = app.send("GET", "api.shop.example", "/v2/changes", query: "since=81234", in: part, at: time + 800)
        app.receive(nil, for: request, in: part, at: time + 2_400, bytes: nil, error: offline)
        app.close(part, .failed, at: time + 2_600, error: offline)
    }

    private func leftCheckout(at time: Int64) {
        let part = app.open(1, of: GUID(), at: time, ["variant": "A", "items": 2])
        app.log(0, in: part, at: time + 250)
        app.log(1, in: part, at: time + 4_100_000)
        app.close(part, .abandoned, at: time + 31_250_000)
    }

    private func runningSync(at time: Int64) {
        let part = app.open(2, of: GUID(), at: time)
        let first = app.send("GET", "api.shop.example", "/v2/changes", query: "since=81234", in: part, at: time + 1_000)
        app.receive(200, for: first, in: part, firstByte: time + 640_000, at: time + 2_900_000, bytes: 1_830_211)
        app.log(0, in: part, at: time + 3_010_000, ["changes": 1204])
        _ = app.send("GET", "cdn.shop.example", "/images/a.zip", in: part, at: time + 3_050_000)
    }

    private static let names: [RecordedName] = [
        (0, ["login"], [0: "initiated", 1: "requestSent", 2: "responseReceived", 10: "sessionMade"]),
        (
            1, ["purchase"],
            [
                0: "cartShown", 1: "addressEntered", 2: "shippingChosen", 3: "orderTapped", 4: "orderFailed",
                5: "orderPlaced",
                6: "receiptShown", 10: "priced", 11: "stockReserved", 12: "orderStored", 20: "riskChecked",
                21: "charged", 22: "declined",
            ]
        ),
        (2, ["sync"], [0: "changesApplied"]),
        (3, ["search"], [0: "resultsShown"]),
    ].flatMap { useCase, name, events in
        name.map { RecordedName(useCase: useCase, name: $0) }
            + events.map { RecordedName(useCase: useCase, event: $0.key, name: $0.value) }
    }
}
