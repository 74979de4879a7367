#if os(iOS) || os(macOS) || os(visionOS)
import Foundation
import WebKit

#if os(macOS)
import AppKit
#else
import UIKit
#endif

/// Files that the user takes away, in a temporary folder that is removed with the view.
@MainActor final class SharedFiles {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "waybill-\(UUID().uuidString)")

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Opens what the system has for sharing; says so where the file cannot be written.
    func share(_ file: InspectorFile, from view: WKWebView) {
        do {
            Self.present([try file.write(into: folder)], from: view)
        } catch {
            Self.present(["\(file.name) could not be written: \(error.localizedDescription)"], from: view)
        }
    }

    #if os(macOS)
    private static func present(_ items: [Any], from view: WKWebView) {
        NSSharingServicePicker(items: items).show(relativeTo: view.bounds, of: view, preferredEdge: .minY)
    }
    #else
    private static func present(_ items: [Any], from view: WKWebView) {
        let responders = sequence(first: view as UIResponder, next: \.next)
        guard let presenter = responders.first(where: { $0 is UIViewController }) as? UIViewController else { return }
        let sheet = UIActivityViewController(activityItems: items, applicationActivities: nil)
        // On an iPad it is a popover, which needs a place.
        sheet.popoverPresentationController?.sourceView = view
        sheet.popoverPresentationController?.sourceRect = CGRect(
            x: view.bounds.midX, y: view.bounds.midY, width: 1, height: 1)
        presenter.present(sheet, animated: true)
    }
    #endif
}
#endif
