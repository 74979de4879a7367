#if Collector
import Foundation
import Hummingbird

extension Request {
    /// The fields of a form that was sent with `GET`, decoded as browsers encode them: a space is a `+` (url.spec.whatwg.org, section 5.1).
    var formItems: [(name: String, value: String)] {
        (uri.query ?? "").split(separator: "&").map { field in
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                let text = part.replacing("+", with: " ")
                return text.removingPercentEncoding ?? String(text)
            }
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
    }
}
#endif
