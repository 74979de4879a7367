// Only Apple platforms have such reports. Debug builds have this code everywhere, for its tests.
#if canImport(Darwin) || DEBUG
package import WaybillCore

extension Store {
    /// Joins the system's report of an end to the launch that it belongs to: the only one within the report's time whose
    /// end is not known.
    ///
    /// A word that begins with `system_` also replaces `system`.
    ///
    /// - Parameter milliseconds: The report's time since 1970, often a whole day.
    /// - Returns: The launch's source; `nil` without one, or if it could be one of several.
    package func note(_ end: SourceEnd, ofLaunchWithin milliseconds: ClosedRange<Int64>) throws(WaybillError) -> GUID? {
        try write { () throws(WaybillError) in
            // IDs sort by the time of the launch.
            let launches = try connection.statement(
                "SELECT id, uuid, ended, ended_by, app FROM sources WHERE heard_us IS NULL ORDER BY uuid DESC"
            ).rows { row in
                (id: row.int(0), source: row.guid(1), hasEnded: row.bool(2), end: row.sourceEnd(3), app: row.text(4))
            }
            var next: [String: Int64] = [:]
            var found: [(id: Int64, source: GUID)] = []
            for launch in launches {
                let began = launch.source.millisecondsSince1970
                let isUnknown = launch.end == nil || launch.end == .system && end.name.hasPrefix("system_")
                if launch.hasEnded, isUnknown, began <= milliseconds.upperBound,
                    next[launch.app] ?? .max >= milliseconds.lowerBound
                {
                    found.append((launch.id, launch.source))
                }
                next[launch.app] = began
            }
            guard found.count == 1, let launch = found.first else { return nil }
            try connection.note(end, of: launch.id)
            try connection.announceNews(of: launch.id)
            return launch.source
        }
    }
}

extension SourceEnd {
    /// Reads the words of a crash report: `Namespace SPRINGBOARD, Code 0x8badf00d` is `system_0x8badf00d`.
    ///
    /// - Parameter reason: The system's words; `nil` without any.
    /// - Returns: `nil` if neither the words nor the signal name a reason.
    package init?(reason: String?, signal: Int32?) {
        let words = (reason ?? "").split { !($0.isLetter || $0.isNumber) }
        let namespace = words.firstIndex(of: "Namespace").map { words[($0 + 1)...].first ?? "" }
        let code = words.firstIndex(of: "Code").map { words[($0 + 1)...].first ?? "" }
        if let namespace, let code, namespace != "SIGNAL", code.hasPrefix("0x") {
            self.init(name: "system_\(code.lowercased())")
        } else if let signal, let name = JournalLayout.signals[signal] {
            self = .signal(name)
        } else {
            return nil
        }
    }
}
#endif
