import Foundation
import Testing
import WaybillCore

@testable import WaybillInspector

@Suite(.timeLimit(.minutes(5))) struct ListAddressTests {
    /// Breaks when a byte below 0x10 is encoded as one digit, and absorbs the letter after it.
    @Test func everyCharacterComesBackFromALink() throws {
        for value in 0..<UInt8(0x80) {
            let text = "a" + String(Unicode.Scalar(value)) + "Bé"
            let encoded = PercentEncoding.encoded(text)
            #expect(encoded.removingPercentEncoding == text, "\(value) in \(encoded)")
            #expect(encoded.wholeMatch(of: /(?:[A-Za-z0-9._~-]|%[0-9A-F]{2})*/) != nil, "\(value) in \(encoded)")
            let link = ListAddress([("text", text)]).with("sort", "oldest")
            let items = try #require(URLComponents(string: "https://host/\(link)")).queryItems
            #expect(items == [URLQueryItem(name: "text", value: text), URLQueryItem(name: "sort", value: "oldest")])
        }
    }
}
