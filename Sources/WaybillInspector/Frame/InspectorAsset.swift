import WaybillCore
import WaybillExport

/// A file that the pages of the inspector load from beside them: the stylesheet, the script, the sign of the window.
///
/// Its name carries its hash, so that a browser keeps it for as long as it stays what it is, and loads it anew when it
/// does not.
package struct InspectorAsset: Sendable {
    /// `waybill-Xk3v0bq9Zp1c.css`.
    package let name: String
    /// With the charset.
    package let mediaType: String
    /// UTF-8.
    package let bytes: [UInt8]

    /// Takes what is the same for every page and every reader: nothing that was recorded.
    private init(_ pieces: [[UInt8]], suffix: String, mediaType: String) {
        bytes = Array(pieces.joined())
        let hash = SHA256.base64(bytes).filter { $0.isLetter || $0.isNumber }.prefix(12)
        name = "waybill-\(hash).\(suffix)"
        self.mediaType = "\(mediaType); charset=utf-8"
    }

    /// The report's look, and what only pages have; in an order in which later rules win.
    package static let style = InspectorAsset(
        [
            ReportAssets.style, PackageResources.inspector_css, PackageResources.charts_css,
            PackageResources.use_cases_css,
            PackageResources.print_css, PackageResources.sources_css, PackageResources.comparison_css,
            PackageResources.large_css,
            PackageResources.exchange_css, PackageResources.controls_css,
        ], suffix: "css", mediaType: "text/css")
    /// Live lists, the keyboard, copying, finding.
    package static let script = InspectorAsset(
        [ReportAssets.sharedScript, PackageResources.inspector_js, PackageResources.find_js], suffix: "js",
        mediaType: "text/javascript")
    /// Shown in the window's title.
    package static let icon = InspectorAsset([PackageResources.icon_svg], suffix: "svg", mediaType: "image/svg+xml")

    /// The asset of that name; nil where there is none.
    package static func named(_ name: String) -> InspectorAsset? { [style, script, icon].first { $0.name == name } }
}
