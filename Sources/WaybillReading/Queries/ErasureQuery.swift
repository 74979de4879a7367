package import WaybillCore

/// What is to be erased, as it is written in a URL's query: an installation, or transactions by `id`, which may be
/// given several times.
package struct ErasureQuery: Sendable, Hashable {
    /// Which parts of a query there are.
    package enum Parameter: String, CaseIterable, Sendable { case installation, id }

    package let installation: GUID?
    /// IDs or support codes.
    package let ids: [String]

    /// The parameters that are set, not percent-encoded.
    package var items: [(name: String, value: String)] {
        installation.map { [(Parameter.installation.rawValue, "\($0)")] } ?? ids.map { (Parameter.id.rawValue, $0) }
    }

    /// Reads the parameters of a URL, decoded.
    ///
    /// - Throws: for anything but one installation or some IDs: an erasure must not be larger or smaller than what was
    ///   meant.
    package init(_ items: [(name: String, value: String)]) throws(QueryFailure) {
        for item in items where Parameter(rawValue: item.name) == nil {
            throw QueryFailure.parameter(
                item.name, "There is no parameter “\(item.name)”. Give one installation, or id once or more.")
        }
        let installations = items.filter { $0.name == Parameter.installation.rawValue }.map(\.value)
        ids = items.filter { $0.name == Parameter.id.rawValue }.map(\.value)
        guard installations.count + min(1, ids.count) == 1 else {
            throw QueryFailure.parameter(
                Parameter.installation.rawValue,
                "Say what to erase: one installation, or transactions by id, and not both.")
        }
        guard let text = installations.first else {
            installation = nil
            return
        }
        guard let installation = GUID(text) else {
            throw QueryFailure.parameter(
                Parameter.installation.rawValue, "“\(text)” is no ID of an installation: it has 36 characters.")
        }
        self.installation = installation
    }
}
