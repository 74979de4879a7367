import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct Greeting: Encodable {
    var text = "hello, world"
}

var request = URLRequest(url: URL(filePath: "/dev/null"))
request.httpBody = try JSONEncoder().encode(Greeting())
let (data, _) = try await URLSession.shared.data(for: request)
print(data.count)
