#if Collector
import Foundation
import WaybillCore

extension Redactor {
    /// What a verb writes goes through this: it knows the names of `WAYBILL_SECRET_NAMES` and `WAYBILL_VISIBLE_NAMES`,
    /// which `waybill serve` obeys, too.
    static let command = Redactor(environment: ProcessInfo.processInfo.environment)

    init(environment: [String: String]) {
        self.init(
            additionalNames: Self.names(in: environment["WAYBILL_SECRET_NAMES"]),
            visibleNames: Self.names(in: environment["WAYBILL_VISIBLE_NAMES"]))
    }

    /// Names with commas between them.
    static func names(in list: String?) -> [String] {
        (list ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
#endif
