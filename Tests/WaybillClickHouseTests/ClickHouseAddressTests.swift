#if ClickHouse
import Foundation
import Testing
import WaybillClickHouse
import WaybillCore

/// The address that a user types for a database.
@Suite(.timeLimit(.minutes(1))) struct ClickHouseAddressTests {
    private let secret = ["WAYBILL_CLICKHOUSE_USER": "waybill", "WAYBILL_CLICKHOUSE_PASSWORD": "k3y"]

    /// Breaks when the address in the guide is not a valid one.
    @Test func theOneInTheGuideIsRead() throws {
        let address = try ClickHouseAddress("clickhouse://localhost:8123/waybill")
        #expect(address.servers.map(\.absoluteString) == ["http://localhost:8123/"])
        #expect((address.database, address.cluster, address.quorum) == ("waybill", nil, 1))
    }

    /// Breaks when a part of an address is read as another part, or is ignored.
    @Test func everyPartIsRead() throws {
        let address = try ClickHouseAddress(
            "clickhouse://ana@a:1/db?replicas=b:2,c&cluster=waybill&quorum=3", environment: secret)
        #expect(address.servers.map(\.absoluteString) == ["http://a:1/", "http://b:2/", "http://c:8123/"])
        #expect((address.user, address.password) == ("ana", "k3y"))
        #expect((address.database, address.cluster, address.quorum) == ("db", "waybill", 3))
    }

    /// Breaks when a store on one server waits for replicas that it does not have, or a store on a cluster for too few.
    @Test(arguments: [("clickhouse://a/db", 1), ("clickhouse://a/db?cluster=c", 2)])
    func theQuorumIsThatOfTheTables(text: String, quorum: Int) throws {
        let address = try ClickHouseAddress(text, environment: secret)
        #expect(address.quorum == quorum)
        #expect(address.user == "waybill")
    }

    /// Breaks when a password is sent unencrypted although the address asks for TLS.
    @Test func tlsHasItsOwnScheme() throws {
        let address = try ClickHouseAddress("clickhouse://a/db?secure=true&replicas=b:9", environment: [:])
        #expect(address.servers.map(\.absoluteString) == ["https://a:8443/", "https://b:9/"])
    }

    /// Breaks when others see a password, when text from an address can become SQL, or when a typo turns off TLS.
    @Test(
        arguments: [
            "clickhouse://ana:k3y@a/db", "clickhouse://a/", "clickhouse://a/db`; DROP", "clickhouse://a/db?cluster=a'b",
            "clickhouse://a/db?quorum=0", "clickhouse://a/db?qourum=2", "http://a/db", "clickhouse:///db",
            "clickhouse://a/db?secure=1", "clickhouse://a/db?secure",
        ])
    func whatIsNoneIsRefused(text: String) {
        #expect(throws: WaybillError.self) { try ClickHouseAddress(text, environment: [:]) }
    }

    /// Breaks when an error or a log contains the password.
    @Test func thePasswordIsNotTold() throws {
        let address = try ClickHouseAddress("clickhouse://a/db", environment: secret)
        #expect(!"\(address)".contains("k3y"))
    }
}
#endif
