/// What went wrong, in a sentence that says what to do about it.
///
/// Recording never throws one of these: they come from explicit requests (flush, snapshot, opening a store to read it)
/// and appear in `TransactionManager.health`. No description holds a payload, a header value or an SQL argument.
public struct WaybillError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, to branch on.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String { case store, damaged, format, transport, refused, setting, notFound, deadline }
        private let kind: Kind

        /// The store cannot be opened, read or written.
        public static let store = Code(kind: .store)
        /// The store's file is not what was written: damaged, replaced or taken away. A store that is recorded into is
        /// made anew from what is left.
        public static let damaged = Code(kind: .damaged)
        /// Bytes that are not what they should be: a set, a receipt, an ID.
        public static let format = Code(kind: .format)
        /// A set could not be handed over; its facts stay pending.
        public static let transport = Code(kind: .transport)
        /// The collector understood the set and refused it; its facts stay pending.
        public static let refused = Code(kind: .refused)
        /// A setting that cannot work; something safe was used instead.
        public static let setting = Code(kind: .setting)
        /// Nothing of that name is there.
        public static let notFound = Code(kind: .notFound)
        /// What was asked takes longer than it may, and was ended.
        public static let deadline = Code(kind: .deadline)

        public var description: String { kind.rawValue }
    }

    /// The kind of failure.
    public var code: Code
    /// One sentence for a person.
    public var message: String
    /// The error underneath, in its own words; nil where there is none.
    public var cause: String?

    /// Makes an error.
    public init(_ code: Code, _ message: String, cause: String? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The message, with the cause in parentheses where there is one.
    public var description: String { cause.map { "\(message) (\($0))" } ?? message }
}
