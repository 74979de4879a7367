import Foundation
import WaybillCore

/// What a backend says about spans that it was sent.
package struct SpanReceipt: Sendable, Hashable {
    /// Spans that it has taken.
    package var acceptedCount = 0
    /// Spans that it has not, and will not.
    package var rejectedCount = 0
    /// Its words about those, or a warning where it has taken all, redacted; nil: none.
    package var message: String?

    package init(acceptedCount: Int = 0, rejectedCount: Int = 0, message: String? = nil) {
        self.acceptedCount = acceptedCount
        self.rejectedCount = rejectedCount
        self.message = message
    }

    package static func += (total: inout SpanReceipt, one: SpanReceipt) {
        total.acceptedCount += one.acceptedCount
        total.rejectedCount += one.rejectedCount
        total.message = one.message ?? total.message
    }

    /// For people.
    package var sentence: String {
        let rejected = rejectedCount > 0 ? ", \(rejectedCount) rejected" : ""
        return "\(Words.count(acceptedCount, "span")) sent\(rejected)\(message.map { ": \($0)" } ?? ".")"
    }

    /// How many spans a line of an export has: inside a string the quotation marks would be escaped. Each has a start,
    /// where a link has an ID, too.
    static func spanCount(of line: [UInt8]) -> Int {
        Data(line).ranges(of: Data("\"startTimeUnixNano\":".utf8)).count
    }
}
