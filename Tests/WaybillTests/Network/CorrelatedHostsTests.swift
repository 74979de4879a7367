import Foundation
import Testing
import Waybill
import WaybillTesting

/// The requests that carry the transaction's header field. Breaks when the field goes to foreign hosts with similar
/// names, or does not go to the app's own hosts.
@Suite(.timeLimit(.minutes(5))) struct CorrelatedHostsTests {
    private func carries(_ address: String, hosts: [String]) throws -> Bool {
        let url = try #require(URL(string: address))
        return !TransactionManager.testing(correlatedHosts: hosts).begin(Login.self).headers(for: url).isEmpty
    }

    @Test(arguments: [
        "https://api.example.com/a", "http://API.EXAMPLE.COM:8443/", "https://eu-1.example.com",
        "https://a_b.example.com",
        "https://api.example.com./", "https://xn--bcher-kva.example.com/", "https://b\u{FC}cher.example.com/",
        "https://someone@api.example.com/",
    ])
    func aPatternIsForTheNamesOneLabelBelow(address: String) throws {
        #expect(try carries(address, hosts: ["*.example.com"]))
    }

    @Test(arguments: [
        "https://example.com/", "https://a.b.example.com/", "https://evilexample.com/", "https://example.com.evil.org/",
        "https://api.example.com.evil.org/", "https://api.example.com@evil.org/", "https://evil.org/api.example.com",
        "https://evil.org?.example.com", "https://evil.org#.example.com", "https://api.example.co",
        "https://api-example.com",
        "https://.example.com/", "https://a..example.com/", "https://*.example.com/",
        "https://api.ex\u{430}mple.com/", "https://api.example.com%2eevil.org/", "https://127.0.0.1/", "https://[::1]/",
    ])
    func whatOnlyLooksLikeItIsNotMeant(address: String) throws {
        #expect(try !carries(address, hosts: ["*.example.com"]))
    }

    @Test(arguments: [
        "*", "*.", "*.com", "*.*", "**.example.com", "*example.com", "api.*.com", "*.*.example.com", "*.0.0.1",
        "*.::1", "*.example.com:443", "https://*.example.com", "*.example..com", "*.example.com/", "*.[::1]",
    ])
    func aPatternOfWhatIsNotOnesOwnIsRefusedWithOneSentence(pattern: String) throws {
        let transactions = TransactionManager.testing(correlatedHosts: [pattern])
        let problems = transactions.health.problems.map(\.message)
        #expect(problems.count == 1)
        #expect(problems.first?.contains("write *. and a name of your own, as *.example.com") == true)
        for address in ["https://api.example.com/", "https://127.0.0.1/", "https://[::1]/"] {
            #expect(try !carries(address, hosts: [pattern]))
        }
    }

    @Test func namesInOtherScriptsAndAnEndingDotAreTheSameName() throws {
        for name in ["b\u{FC}cher.example", "xn--bcher-kva.example", "B\u{DC}CHER.example."] {
            for address in ["https://b\u{FC}cher.example/", "https://xn--bcher-kva.example./"] {
                #expect(try carries(address, hosts: [name]), "\(name) \(address)")
            }
            #expect(try carries("https://api.b\u{FC}cher.example/", hosts: ["*.\(name)"]))
        }
        #expect(try carries("https://[::1]:8080/", hosts: ["::1"]))
        #expect(try carries("https://localhost:8080/", hosts: ["localhost"]))
    }
}
