#if Collector
/// The name of a project, which is also that of its store's file in the collector's folder.
package struct ProjectName: Sendable, Hashable, CustomStringConvertible {
    /// The project that is meant where none is named: `waybill`, whose file `waybill.sqlite` is what the folder as a
    /// STORE means.
    package static let standard = ProjectName(text: "waybill")

    package let description: String

    /// Takes a name; nil unless it is 1 to 64 of a-z, 0-9 and - and begins with a letter or a digit: a file's name on
    /// every system.
    package init?(_ text: String) {
        let isName =
            (1...64).contains(text.utf8.count) && !text.hasPrefix("-")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        guard isName else { return nil }
        self.init(text: text)
    }

    private init(text: String) { description = text }
}
#endif
