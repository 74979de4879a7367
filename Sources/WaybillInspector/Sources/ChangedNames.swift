package import WaybillCore
import WaybillExport
package import WaybillReading

/// The codes that have had several names, and since when.
package struct ChangedNames: Sendable, Redactable {
    private let conflicts: [NameConflict]
    private let count: Int
    private let useCases: [Int: String]
    private let starts: [AppVersion: Int64]

    /// - Parameters:
    ///   - count: Of such codes; nil: those are all.
    ///   - useCases: What a use case is called.
    ///   - starts: When a version was started first, in microseconds since 1970.
    package init(
        _ conflicts: [NameConflict], count: Int? = nil, useCases: [Int: String], starts: [AppVersion: Int64]
    ) {
        self.conflicts = conflicts
        self.count = count ?? conflicts.count
        self.useCases = useCases
        self.starts = starts
    }

    package func redacted(by redactor: Redactor) -> Self {
        let starts = starts.map {
            (AppVersion(app: redactor.text($0.key.app), version: redactor.text($0.key.version)), $0.value)
        }
        return ChangedNames(
            conflicts.redacted(by: redactor), count: count, useCases: useCases.redacted(by: redactor),
            starts: Dictionary(starts, uniquingKeysWith: min))
    }

    func html(in frame: InspectorFrame) -> HTML {
        guard !conflicts.isEmpty else {
            return """
                <section class="panel wide"><h2>Names that changed</h2><p class=why>None: every code has had one name in all versions of all \
                apps.</p></section>

                """
        }
        return """
            <section class="panel wide"><h2>Names that changed</h2><p>Nothing is lost by it, but one of the names misleads whoever reads it.</p>
            <table class="facts runs"><thead><tr><th>Code<th>Name<th>App<th>Versions<th>Since</tr></thead>\
            \(conflicts.map { rows($0, frame) })</table>\(rest)</section>

            """
    }

    private var rest: HTML {
        let more = count - conflicts.count
        return more > 0 ? "<p class=why>And \(Words.count(more, "more code")) with several names.</p>" : ""
    }

    private func rows(_ conflict: NameConflict, _ frame: InspectorFrame) -> HTML {
        let code = conflict.event.map {
            "event \($0) of \(useCases[conflict.useCase] ?? "use case \(conflict.useCase)")"
        }
        let head: HTML = """
            <th scope=rowgroup rowspan=\(conflict.names.count)>\(code ?? "use case \(conflict.useCase)")\
            \(more(conflict.furtherNames, "name"))
            """
        let rows = conflict.names.enumerated().map { index, use in
            """
            <tr>\(head, if: index == 0)<td>\(standing(of: index, in: conflict))<b>\(use.name)</b><td>\(use.app.isEmpty ? "not told" : use.app)\
            <td>\(use.versions.joined(separator: ", "))\(more(use.furtherVersions, "version"))<td>\(since(use, frame))</tr>
            """ as HTML
        }
        return "<tbody>\(rows)</tbody>"
    }

    private func more(_ count: Int?, _ word: String) -> String {
        count.map { " and \(Words.count($0, "more \(word)"))" } ?? ""
    }

    /// Within one app the later name replaced the earlier one.
    private func standing(of index: Int, in conflict: NameConflict) -> HTML {
        let isFirst = index == 0 || conflict.names[index - 1].app != conflict.names[index].app
        return isFirst ? "" : "<u>then</u> "
    }

    private func since(_ use: NameConflict.Use, _ frame: InspectorFrame) -> String {
        let starts = use.versions.compactMap { self.starts[AppVersion(app: use.app, version: $0)] }
        return starts.min().map { WallTime($0, in: frame.timeZone).date } ?? "unknown"
    }
}
