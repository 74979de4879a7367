import Foundation
import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct Greeting: Encodable {
    var text = "hello, world"
}

enum Hello: Int, UseCase {
    static let code = 1
    case said = 0
}

let transactions = TransactionManager(store: .inMemory)
var request = URLRequest(url: URL(filePath: "/dev/null"))
request.httpBody = try JSONEncoder().encode(Greeting())
try await transactions.perform(Hello.self) { hello in
    let (data, _) = try await URLSession.shared.data(for: request)
    print(data.count)
    hello.log(.said)
}
