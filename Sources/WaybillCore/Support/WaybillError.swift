/// An error with a message that says what to do.
///
/// Recording never throws it. Explicit requests throw it, such as a flush or opening a store, and
/// `TransactionManager.health` reports it. Descriptions never contain payloads, header values or SQL arguments.
public struct WaybillError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, for branching.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String { case store, damaged, format, transport, refused, setting, notFound, deadline }
        private let kind: Kind

        /// The store can't be opened, read or written.
        public static let store = Code(kind: .store)
        /// The store's file is damaged, replaced or missing. A recording manager rebuilds the store from the remains.
        public static let damaged = Code(kind: .damaged)
        /// The bytes are not in the expected format, e.g. of a set, a receipt or an ID.
        public static let format = Code(kind: .format)
        /// A set could not be transmitted. Its facts stay pending.
        public static let transport = Code(kind: .transport)
        /// The collector refused the set. Its facts stay pending.
        public static let refused = Code(kind: .refused)
        /// A setting is invalid. A safe value replaces it.
        public static let setting = Code(kind: .setting)
        /// The named item does not exist.
        public static let notFound = Code(kind: .notFound)
        /// The request exceeded its time limit and was stopped.
        public static let deadline = Code(kind: .deadline)

        public var description: String { kind.rawValue }
    }

    /// The kind of failure.
    public var code: Code
    /// The message, in one sentence.
    public var message: String
    /// The description of the underlying error; `nil` if there is none.
    public var cause: String?

    /// Creates an error.
    public init(_ code: Code, _ message: String, cause: String? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    package init(wrapping error: any Error) {
        self = error as? WaybillError ?? WaybillError(.store, "The store can't be used.", cause: "\(type(of: error))")
    }

    /// The message, followed by the cause in parentheses if there is one.
    public var description: String { cause.map { "\(message) (\($0))" } ?? message }
}
