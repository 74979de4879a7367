#if Collector
import Foundation
import Testing
import WaybillCore

@testable import WaybillCommand

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The examples that AWS publishes: docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html. A bucket
/// refuses a signature with one wrong bit, and does not say which bit.
@Suite(.timeLimit(.minutes(5))) struct BucketRequestTests {
    private let credentials = BucketCredentials(
        id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    private let time = Int64(1_369_353_600_000_000)

    @Test func anObjectIsGot() throws {
        let request = BucketRequest(path: "/test.txt", fields: ["range": "bytes=0-9"])
        #expect(try signature(request) == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    }

    @Test func anObjectIsPut() throws {
        let request = BucketRequest(
            method: "PUT", path: "/test$file.text",
            fields: ["date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"],
            body: Array("Welcome to Amazon S3.".utf8))
        #expect(try signature(request) == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
    }

    @Test func objectsAreListed() throws {
        let request = BucketRequest(path: "/", query: [("prefix", "J"), ("max-keys", "2")])
        #expect(try signature(request) == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    }

    @Test func credentialsThatEndBringTheirToken() throws {
        var credentials = credentials
        credentials.token = "token"
        let request = try BucketRequest(path: "/a").signed(for: address(), by: credentials, at: time)
        #expect(request.value(forHTTPHeaderField: "x-amz-security-token") == "token")
        let authorization = try #require(request.value(forHTTPHeaderField: "authorization"))
        #expect(authorization.contains("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"))
    }

    @Test func whoIsNobodyInParticularSignsNothing() throws {
        let request = try BucketRequest(path: "/a b/ü").signed(for: address(), by: nil, at: time)
        #expect(request.allHTTPHeaderFields?.isEmpty != false)
        #expect(request.url?.absoluteString == "https://examplebucket.s3.us-east-1.amazonaws.com/a%20b/%C3%BC")
    }

    /// RFC 4231, test cases 2 and 6: a short key, and one longer than a block.
    @Test func codesAreThoseOfHMAC() {
        let short = SHA256.authentication(of: Array("what do ya want for nothing?".utf8), by: Array("Jefe".utf8))
        #expect(SHA256.hex(ofHash: short) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        let message = "Test Using Larger Than Block-Size Key - Hash Key First"
        let long = SHA256.authentication(of: Array(message.utf8), by: [UInt8](repeating: 0xAA, count: 131))
        #expect(SHA256.hex(ofHash: long) == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    private func address() throws -> BucketAddress { try BucketAddress("s3://examplebucket", environment: [:]) }

    /// The host in the examples names no region, which us-east-1 does not require.
    private func signature(_ request: BucketRequest) throws -> String? {
        let address = try BucketAddress(
            "s3://x", environment: ["AWS_ENDPOINT_URL": "https://examplebucket.s3.amazonaws.com"])
        return try request.signed(for: address, by: credentials, at: time)
            .value(forHTTPHeaderField: "authorization")?.components(separatedBy: "Signature=").last
    }
}
#endif
