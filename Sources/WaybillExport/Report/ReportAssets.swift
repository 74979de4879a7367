/// What a report is drawn and moved with: files beside this one, which the build puts into the program, so that no
/// bundle goes with it.
package enum ReportAssets {
    /// CSS. Colours first: everything after them, here and in the inspector, is drawn with these.
    package static let style = PackageResources.report_css
    /// The signs of the outcomes, drawn once, used by their IDs: see `TransactionOutcome.icon`.
    package static let icons = HTML.raw(PackageResources.icons_svg)
    /// JavaScript in front of the report's and of the inspector's: copying, and moments by the reader's clock.
    package static let sharedScript = PackageResources.shared_js
    /// JavaScript of a report: it searches, filters by outcome, unfolds all, and copies.
    static let script = sharedScript + PackageResources.report_js
}
