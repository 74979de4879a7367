#if Collector
import Testing
import WaybillCore

@testable import WaybillCommand

@Suite(.timeLimit(.minutes(5))) struct BucketAddressTests {
    @Test(arguments: [
        ("s3://facts/shop/eu/", [:], "https://facts.s3.us-east-1.amazonaws.com", "", "shop/eu/"),
        ("s3://facts", ["AWS_REGION": "eu-central-1"], "https://facts.s3.eu-central-1.amazonaws.com", "", ""),
        ("s3://facts", ["AWS_DEFAULT_REGION": "eu-west-1"], "https://facts.s3.eu-west-1.amazonaws.com", "", ""),
        ("s3://my.facts/a", [:], "https://s3.us-east-1.amazonaws.com", "/my.facts", "a/"),
        ("s3://facts/a", ["AWS_ENDPOINT_URL": "http://127.0.0.1:9000/"], "http://127.0.0.1:9000", "/facts", "a/"),
        ("s3://facts", ["AWS_ENDPOINT_URL": "https://minio:443"], "https://minio", "/facts", ""),
        (
            "s3://facts", ["AWS_ENDPOINT_URL": "http://a", "AWS_ENDPOINT_URL_S3": "http://[::1]:1"], "http://[::1]:1",
            "/facts", ""
        ),
    ])
    func variablesSayWhereABucketIs(
        text: String, environment: [String: String], origin: String, root: String, prefix: String
    ) throws {
        let address = try BucketAddress(text, environment: environment)
        #expect(address.origin == origin && address.root == root && address.prefix == prefix)
    }

    @Test(arguments: [
        ("s3://", [:]), ("s3:///a", [:]), ("s3://a?b", [:]), ("s3://a@b/c", [:]),
        ("s3://a", ["AWS_ENDPOINT_URL": "127.0.0.1:9000"]), ("s3://a", ["AWS_ENDPOINT_URL": "http://h/path"]),
        ("s3://a", ["AWS_ENDPOINT_URL": "http://u:p@h"]), ("s3://a", ["AWS_REGION": "x/y"]),
    ])
    func whatIsNoAddressIsSaidSo(text: String, environment: [String: String]) {
        let error = #expect(throws: WaybillError.self) { try BucketAddress(text, environment: environment) }
        #expect(error?.code == .setting)
    }

    @Test func credentialsAreWholeOrNone() throws {
        #expect(try BucketCredentials(environment: ["AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""]) == nil)
        #expect(
            try BucketCredentials(environment: ["AWS_ACCESS_KEY_ID": "i", "AWS_SECRET_ACCESS_KEY": "s"])
                == BucketCredentials(id: "i", secret: "s"))
        for half in [
            ["AWS_ACCESS_KEY_ID": "i"], ["AWS_SECRET_ACCESS_KEY": "s"],
            ["AWS_ACCESS_KEY_ID": "i\nx: y", "AWS_SECRET_ACCESS_KEY": "s"],
        ] {
            let error = #expect(throws: WaybillError.self) { try BucketCredentials(environment: half) }
            #expect(error?.message.contains("\n") == false)
        }
    }
}
#endif
