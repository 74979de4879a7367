/// A code that has had several names: in versions of one app, or in several apps.
///
/// Nothing is wrong with what was recorded, but one of the names misleads its readers.
public struct NameConflict: Hashable, Sendable, Codable {
    /// The use case's code.
    public var useCase: Int
    /// The event's code; nil: it is the use case that has several names.
    public var event: Int?
    /// Who uses which name; by app, then from the lowest version on. Of many, the first.
    public var names: [Use]
    /// How many names of apps there are besides; nil: none.
    public var furtherNames: Int?

    /// Makes a conflict.
    public init(useCase: Int, event: Int?, names: [Use]) {
        self.useCase = useCase
        self.event = event
        self.names = names
    }

    /// One name, and the versions of one app that use it.
    public struct Use: Hashable, Sendable, Codable {
        /// What people see.
        public var name: String
        /// The app's or service's name.
        public var app: String
        /// From the lowest to the highest; digits compare as numbers. Of many, the lowest.
        public var versions: [String]
        /// How many versions there are besides; nil: none.
        public var furtherVersions: Int?

        /// Makes a use.
        public init(name: String, app: String, versions: [String]) {
            self.name = name
            self.app = app
            self.versions = versions
        }
    }
}

extension NameConflict: CustomStringConvertible {
    /// `Event 1 of use case 0 has several names: sent (shop 1.0, 1.1), requestSent (shop 1.2).`
    public var description: String {
        let code = event.map { "Event \($0) of use case \(useCase)" } ?? "Use case \(useCase)"
        let uses = names.map { use in
            let more = use.furtherVersions.map { " and \($0) more" } ?? ""
            let places = ([use.app] + [use.versions.joined(separator: ", ")]).filter { !$0.isEmpty }
            return places.isEmpty ? use.name : "\(use.name) (\(places.joined(separator: " "))\(more))"
        }
        let more = furtherNames.map { " and \($0) more" } ?? ""
        return "\(code) has several names: \(uses.joined(separator: ", "))\(more)."
    }
}
