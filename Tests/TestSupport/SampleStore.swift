package import WaybillCore
package import WaybillStore

/// Two weeks of a shop's app on 90 devices: the same transactions for the same seed and time.
///
/// It includes difficult cases for pages: an error that began on the sixth day, one that is new since the last day,
/// names in Arabic, a sync of 300 requests and an upload of 400 events.
package struct SampleStore {
    package static let dayCount = 14
    /// The number of ordinary transactions, in addition to the large ones.
    package static let transactionCount = 3_400

    /// The sync of 300 requests.
    package let manyRequests: GUID
    /// The upload of 400 events.
    package let manyEvents: GUID
    /// The code of `ShopError` that occurs since the sixth day.
    package static let stockError = RecordedError(domain: "ShopError", code: 409, text: "The item is sold out.")
    /// The error that occurs in the last day only.
    package static let newError = RecordedError(domain: "VoucherError", code: 7, text: "The voucher has expired.")

    private static let second: Int64 = 1_000_000
    private static let day = 86_400 * second

    private enum Case: Int, CaseIterable { case login, search, checkout, sync, upload }

    private struct Device {
        var user: String
        var model: String
        var os: String
        var name: String
        var variant: String
        /// The days of its updates to versions 2.1 and 2.2.
        var updates: [Int64]
        /// The end of its latest transaction.
        var busyUntil: Int64 = 0
        /// A source for each version that has run on it.
        var apps: [String: ShareWriter] = [:]
    }

    private let end: Int64
    private let start: Int64
    private var random: RandomNumbers
    private var devices: [Device] = []
    private let server: ShareWriter

    /// - Parameter end: The end of the two weeks, in microseconds since 1970.
    package init(seed: Int = 1, endingAt end: Int64 = LoginHistory.begun) {
        self.end = end
        start = end - Int64(Self.dayCount) * Self.day
        random = RandomNumbers(seed: seed)
        manyRequests = Self.guid(at: end - 3 * 3_600 * Self.second, &random)
        manyEvents = Self.guid(at: end - 2 * 3_600 * Self.second, &random)
        server = ShareWriter(
            "shop-api", "2026.3", device: "x86_64", os: "Linux", "6.8", id: Self.guid(at: start, &random), start: start,
            names: Self.names)
        devices = (0..<90).map { device($0) }
    }

    /// Writes a store of these transactions, in place of the contents of `location`.
    package mutating func write(to location: ResolvedLocation) throws {
        let store = try Store(location)
        record()
        let shares = devices.flatMap { $0.apps.sorted { $0.key < $1.key }.map { $0.value.share() } } + [server.share()]
        for share in shares {
            let set = TransactionSet(id: Self.guid(at: end, &random), sources: [share])
            let receipt = try store.ingest(set, receivedAt: end)
            guard receipt.rejections.isEmpty else { throw WaybillError(.format, "\(receipt.rejections)") }
        }
        try store.checkpoint()
    }

    private mutating func record() {
        for index in 0..<Self.transactionCount {
            // Times rise, with more of them in the evening than at night.
            let share = Int64(Self.dayCount) * Self.day / Int64(Self.transactionCount + 1)
            let at = share * Int64(index) + within(0..<share)
            let device = Int.random(in: devices.indices, using: &random)
            let useCase =
                [.login, .login, .search, .search, .search, .checkout, .checkout, .sync, .upload][
                    index % 9] as Case
            let time = max(at, devices[device].busyUntil)
            devices[device].busyUntil = time + 30 * Self.second
            run(useCase, number: index, on: device, at: time)
        }
        synchronizeMuch(at: end - start - 3 * 3_600 * Self.second)
        uploadMuch(at: end - start - 2 * 3_600 * Self.second)
    }

    private mutating func run(_ useCase: Case, number: Int, on device: Int, at time: Int64) {
        let app = app(on: device, at: time)
        var attributes: Attributes = [
            "user": .string(devices[device].user), "device": .string(devices[device].name),
            "variant": .string(devices[device].variant),
        ]
        if random.oneIn(40) { attributes["note"] = .string(Self.longText) }
        let id = Self.guid(at: start + time, &random)
        let isStuck = number % 97 == 5
        let part = app.open(
            useCase.rawValue, of: id, at: time, attributes, timeout: isStuck ? 1_800 * Self.second : Self.day)
        app.log(0, in: part, at: time + 400)
        if isStuck { return }
        if number % 61 == 7 {
            app.close(part, number % 2 == 0 ? .interrupted : .abandoned, at: time + within(1..<20) * Self.second)
            return
        }
        let isSlow = random.oneIn(60)
        let took = isSlow ? within(8_000_000..<20_000_000) : within(40_000..<900_000)
        switch useCase {
        case .login: login(id, part, app, time + 9_000, took, isJoined: !random.oneIn(8))
        case .search:
            request(app, part, "GET", "/v2/search/\(within(1..<400))", 200, time + 9_000, took)
            app.log(1, in: part, at: time + took + 10_000, ["results": .integer(within(0..<90))])
            app.close(part, at: time + took + 12_000)
        case .checkout: checkout(part, app, time + 9_000, took, day: time / Self.day, number)
        case .sync:
            for index in 0..<3 {
                let path = index == 0 ? "/v2/changes" : "/v2/albums/\(within(1..<900))/photos/\(uuid())"
                request(app, part, "GET", path, random.oneIn(50) ? 404 : 200, time + 9_000 + Int64(index) * took, took)
            }
            app.close(part, at: time + 3 * took + 20_000)
        case .upload:
            request(app, part, "PUT", "/v2/uploads/\(uuid())", random.oneIn(30) ? 503 : 201, time + 9_000, took)
            app.close(part, random.oneIn(25) ? .cancelled : .succeeded, at: time + took + 20_000)
        }
    }

    private mutating func login(
        _ id: GUID, _ part: Int64, _ app: ShareWriter, _ time: Int64, _ took: Int64, isJoined: Bool
    ) {
        let isRight = !random.oneIn(12)
        let sent = app.send("POST", Self.host, "/v2/session", in: part, at: time)
        if isJoined {
            let joined = server.open(0, of: id, by: sent, at: time + took / 4)
            server.log(isRight ? 10 : 11, in: joined, at: time + took / 2)
            server.close(joined, at: time + took * 3 / 4)
        }
        app.receive(isRight ? 200 : 401, for: sent, in: part, firstByte: time + took * 9 / 10, at: time + took)
        let error = RecordedError(domain: "LoginError", code: 401, text: "The password is wrong.")
        app.close(part, isRight ? .succeeded : .failed, at: time + took + 400, error: isRight ? nil : error)
    }

    private mutating func checkout(
        _ part: Int64, _ app: ShareWriter, _ time: Int64, _ took: Int64, day: Int64, _ number: Int
    ) {
        request(app, part, "GET", "/v2/carts/\(uuid())", 200, time, took / 2)
        app.log(2, in: part, at: time + took, ["items": .integer(within(1..<9))])
        let isNew = day == Int64(Self.dayCount) - 1 && number % 4 == 1
        let isSoldOut = day >= 5 && number % 27 == 5
        let error = isNew ? Self.newError : isSoldOut ? Self.stockError : nil
        request(app, part, "POST", "/v2/orders", error == nil ? 201 : 409, time + took, took)
        app.close(part, error == nil ? .succeeded : .failed, at: time + 2 * took + 900, error: error)
    }

    /// Records six requests at a time, of two kinds. Four fail, and one lasts nine seconds.
    private mutating func synchronizeMuch(at time: Int64) {
        let app = app(on: 0, at: time)
        let part = app.open(
            Case.sync.rawValue, of: manyRequests, at: time,
            ["sample": "300 requests", "user": .string(devices[0].user)])
        var free = [Int64](repeating: time + 1_000, count: 6)
        for index in 0..<300 {
            let lane = free.indices.min { free[$0] < free[$1] } ?? 0
            let took = index == 180 ? 9_000_000 : within(40_000..<900_000)
            let path =
                index % 30 < 20 ? "/v2/albums/\(within(1..<900))/photos/\(uuid())" : "/v2/tags/\(within(1..<99_999))"
            let status = [47: 404, 120: 500, 121: 500, 268: 404][index] ?? 200
            request(app, part, "GET", path, status, free[lane], took)
            free[lane] += took + 2_000
        }
        app.close(part, at: (free.max() ?? time) + 5_000)
    }

    /// Records chunks that are written one after another, with a pause of nine seconds and two errors.
    private mutating func uploadMuch(at time: Int64) {
        let app = app(on: 1, at: time)
        let part = app.open(
            Case.upload.rawValue, of: manyEvents, at: time, ["sample": "400 events", "user": .string(devices[1].user)])
        var now = time + 1_000
        for index in 0..<400 {
            now += index == 230 ? 9_000_000 : within(5_000..<60_000)
            let error =
                index % 150 == 140 ? RecordedError(domain: "DiskError", code: 28, text: "No space is left.") : nil
            app.log(3, in: part, at: now, error: error, index % 7 == 0 ? ["chunk": .integer(Int64(index))] : [:])
        }
        request(app, part, "PUT", "/v2/uploads/\(uuid())", 201, now + 4_000, 700_000)
        app.close(part, at: now + 800_000)
    }

    private func request(
        _ app: ShareWriter, _ part: Int64, _ method: String, _ path: String, _ status: Int, _ time: Int64, _ took: Int64
    ) {
        let sent = app.send(method, Self.host, path, in: part, at: time)
        app.receive(status, for: sent, in: part, firstByte: time + took * 8 / 10, at: time + took)
    }

    private mutating func app(on device: Int, at time: Int64) -> ShareWriter {
        let version = "2.\(devices[device].updates.filter { $0 <= time / Self.day }.count)"
        if let known = devices[device].apps[version] { return known }
        let its = devices[device]
        let isPhone = its.model.hasPrefix("iPhone")
        let writer = ShareWriter(
            "com.example.shop", version, device: its.model, os: isPhone ? "iOS" : "macOS", its.os,
            id: Self.guid(at: start + time, &random), start: start, names: Self.names)
        devices[device].apps[version] = writer
        return writer
    }

    private mutating func device(_ index: Int) -> Device {
        // Thirty of the sixty users have two devices.
        let user = index % 60
        let names = [
            3: "عبد الرحمن بن محمد", 17: "שרה כהן", 29: "Wolfeschlegelsteinhausenbergerdorff, Hubert Blaine the Elder",
        ]
        let model = ["iPhone17,1", "iPhone15,4", "iPhone14,7", "Mac16,1"][Int(within(0..<4))]
        return Device(
            user: names[user] ?? "user-\(user)", model: model, os: model == "Mac16,1" ? "15.5" : "18.\(within(1..<6))",
            name: "device-\(index)", variant: index % 2 == 0 ? "A" : "B",
            updates: [4 + within(0..<3), 9 + within(0..<3)])
    }

    private mutating func within(_ range: Range<Int64>) -> Int64 { Int64.random(in: range, using: &random) }

    private mutating func uuid() -> String { random.guid().description }

    /// A UUIDv7 (RFC 9562) of a time in microseconds since 1970.
    private static func guid(at time: Int64, _ random: inout RandomNumbers) -> GUID {
        GUID(
            high: UInt64(time / 1000) << 16 | 0x7000 | random.next() & 0xFFF,
            low: random.next() & ~(3 << 62) | 2 << 62)
    }

    private static let host = "api.shop.example"
    private static let longText = String(repeating: "a note that somebody wrote at length, ", count: 12)

    private static let names: [RecordedName] =
        Case.allCases.map { RecordedName(useCase: $0.rawValue, name: "\($0)") }
        + Case.allCases.flatMap { useCase in
            [
                0: "started", 1: "resultsShown", 2: "cartShown", 3: "chunkWritten", 10: "sessionMade",
                11: "passwordRefused",
            ].map {
                RecordedName(useCase: useCase.rawValue, event: $0.key, name: $0.value)
            }
        }
}
