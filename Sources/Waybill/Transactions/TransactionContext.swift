public import WaybillCore
import WaybillStore

/// What every transaction that begins or is joined from now on has among its attributes: who the user is, the tenant,
/// the variant of an experiment.
///
/// ## Usage
///
/// ```swift
/// transactions.context.setUser(account.id)  // hashed
/// transactions.context.set("tenant", account.tenant)
/// transactions.context.set("channel", "beta", remembered: true)  // later launches have it, too
/// transactions.context.remove("tenant")
/// ```
///
/// Transactions that are open are told of each change, as of that moment: a user who logs in half way is known from
/// there on. What a caller says of a transaction wins over the context of the same name. Its values are redacted like all
/// attributes; at most 32 names are kept, and of transactions that are open at the same time a thousand are told.
/// ``TransactionManager/erase(_:)`` of everything or of the installation takes it away, and so does
/// ``TransactionManager/resetInstallation()``.
public struct TransactionContext: Sendable {
    let sources: SourceRegistry

    /// What is set now.
    public var attributes: Attributes { sources.context.attributes }

    /// The value of one name; nil: it has none, or is to have none any more. What is set so is not remembered over
    /// launches.
    public subscript(name: String) -> AttributeValue? {
        get { attributes[name] }
        nonmutating set { set(name, newValue) }
    }

    /// Sets a value, for what begins from now on and for what is open.
    ///
    /// - Parameters:
    ///   - name: The attribute's name.
    ///   - value: Its value from now on; nil: it has none any more.
    ///   - remembered: Whether later launches have it, too, redacted, from a file in the store's folder that only its
    ///     owner may read; a store in memory remembers nothing. Default: false.
    public func set(_ name: String, _ value: (any AttributeConvertible)?, remembered: Bool = false) {
        let change = Fact.AttributesSet(name, value)
        sources.changeContext(change.attributes, removed: change.removed, isRemembered: remembered)
    }

    /// Sets several values at once; names that are not among them keep theirs.
    ///
    /// - Parameters:
    ///   - attributes: Names and values.
    ///   - remembered: As with ``set(_:_:remembered:)``.
    public func set(_ attributes: Attributes, remembered: Bool = false) {
        sources.changeContext(attributes, removed: [], isRemembered: remembered)
    }

    /// Sets the attribute `user` to a pseudonym of the user's ID. To record the ID itself, call `set("user", id)`.
    ///
    /// The pseudonym is the first 64 bits of the SHA-256 of a salt and the ID, as sixteen letters. The salt is random,
    /// stays in the store's folder and is never sent. So whoever has only the records can't guess IDs, and the same user
    /// has another pseudonym in another installation. Whoever has the device's files can try all possible IDs. A
    /// pseudonym is not anonymity: it ties the transactions of one user together, and other attributes can reveal who it
    /// is.
    ///
    /// - Parameters:
    ///   - id: The ID; `nil` removes the attribute.
    ///   - remembered: As with ``set(_:_:remembered:)``.
    public func setUser(_ id: String?, remembered: Bool = false) {
        guard let id else { return remove("user") }
        set("user", sources.context.hash(id), remembered: remembered)
        // Also where it is not remembered: the salt is the installation's.
        sources.saveContext()
    }

    /// Takes values away; also those that were remembered.
    public func remove(_ names: String...) {
        sources.changeContext([:], removed: Array(Set(names)), isRemembered: false)
    }

    /// Takes all values away; also those that were remembered.
    public func removeAll() {
        sources.changeContext([:], removed: Array(attributes.keys), isRemembered: false)
    }
}

extension TransactionManager {
    /// What transactions that begin or are joined from now on have among their attributes.
    public var context: TransactionContext { TransactionContext(sources: sources) }
}

/// What transactions get among their attributes from now on, and the parts that are open, which are told of a change.
///
/// Parts come here when they are opened and when they are closed; what happens in between does not.
final class ContextKeeper: Sendable {
    /// A part that can be told of a change.
    struct Part: Sendable {
        var source: SourceRecorder
        var transaction: GUID
        var useCase: Int
        var sequence: Int64
        /// Whether another process began its transaction.
        var isJoined = false

        fileprivate var key: Key { Key(source: ObjectIdentifier(source), sequence: sequence) }
    }

    /// The context as it was when a part was about to be opened.
    struct Moment {
        fileprivate var attributes: Attributes
        fileprivate var version: Int
    }

    /// Parts that are told at most: those that are open beyond it keep what they were opened with.
    static let partLimit = 1_000

    fileprivate struct Key: Hashable {
        var source: ObjectIdentifier
        var sequence: Int64
    }

    private struct Entry {
        var part: Part
        /// What the caller said at the opening: it wins over the context of that name.
        var own: Attributes
        /// Names that the caller has set or removed since.
        var set: Set<String> = []

        func without(_ changes: Fact.AttributesSet) -> Fact.AttributesSet {
            func isFree(_ name: String) -> Bool { own[name] == nil && !set.contains(name) }
            return Fact.AttributesSet(
                attributes: changes.attributes.filter { isFree($0.key) }, removed: changes.removed.filter(isFree))
        }
    }

    private struct State {
        var attributes: Attributes = [:]
        /// Names among them that later launches are to have, too.
        var remembered: Set<String> = []
        var salt: String?
        var isRead = false
        /// How often it was changed.
        var version = 0
        var entries: [Key: Entry] = [:]
        var isBeyondLimit = false
    }

    private let state = Locked(State())
    /// Held while the file is written: what was forgotten must not come back.
    private let writing = Locked(())
    private let file: ContextFile?
    private let redactor: Redactor

    init(file: ContextFile?, redactor: Redactor) {
        self.file = file
        self.redactor = redactor
    }

    /// What is set now.
    var attributes: Attributes { withState { $0.attributes } }

    /// With what was remembered, which is read when it is first needed.
    private func withState<Result>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            if !state.isRead {
                state.isRead = true
                if let content = file?.read() {
                    state.attributes = content.attributes
                    state.remembered = Set(content.attributes.keys)
                    state.salt = content.salt
                }
            }
            return body(&state)
        }
    }

    // MARK: Parts

    /// The attributes that a part is opened with: its own, and of the context those of other names.
    ///
    /// - Returns: `omitted` counts those of the context that there was no room for.
    func attributes(with own: Attributes) -> (all: Attributes, omitted: Int, moment: Moment) {
        let moment = withState { Moment(attributes: $0.attributes, version: $0.version) }
        if moment.attributes.isEmpty { return (own, 0, moment) }
        if own.isEmpty { return (moment.attributes, 0, moment) }
        var (all, omitted) = (own, 0)
        // Where there is no room for all, the caller's own stay.
        for name in moment.attributes.keys.sorted() where own[name] == nil {
            if all.count < Limits.attributes { all[name] = moment.attributes[name] } else { omitted += 1 }
        }
        return (all, omitted, moment)
    }

    /// The use case that was begun here last, of those that are open; `nil` if there is none.
    ///
    /// Looks at a hundred of them at most: for a hint, any of many will do.
    func latestBegun() -> Int? {
        state.withLock { state in
            state.entries.values.lazy.prefix(100).map(\.part).filter { !$0.isJoined }
                .max { $0.sequence < $1.sequence }?.useCase
        }
    }

    /// A part was opened.
    ///
    /// - Returns: What has changed while it was; nil as a rule.
    func opened(_ part: Part, own: Attributes, since moment: Moment) -> Fact.AttributesSet? {
        state.withLock { state in
            let entry = Entry(part: part, own: own)
            if state.entries.count < Self.partLimit {
                state.entries[part.key] = entry
            } else {
                state.isBeyondLimit = true
            }
            guard state.version != moment.version else { return nil }
            let missed = entry.without(Self.changes(from: moment.attributes, to: state.attributes))
            return missed.isEmpty ? nil : missed
        }
    }

    /// The caller has set or removed attributes of a part.
    func note(_ changes: Fact.AttributesSet, of part: Part) {
        state.withLock { $0.entries[part.key]?.set.formUnion(changes.attributes.keys + changes.removed) }
    }

    /// A part was closed.
    func closed(_ sequence: Int64, of source: SourceRecorder) {
        state.withLock { _ = $0.entries.removeValue(forKey: Key(source: ObjectIdentifier(source), sequence: sequence)) }
    }

    // MARK: Changes

    /// What became of a change.
    struct Change {
        /// The parts that are open, with what they are to be told.
        var parts: [(part: Part, changes: Fact.AttributesSet)] = []
        /// Attributes for which there was no room.
        var truncated = 0
        /// Whether more parts were open than can be told.
        var isBeyondLimit = false
        /// Whether the file has to be written.
        var isRemembered = false
    }

    /// Sets and removes attributes.
    ///
    /// - Parameter isRemembered: Whether later launches are to have those that are set, too.
    func change(_ attributes: Attributes, removed: [String], isRemembered: Bool) -> Change {
        withState { state in
            let (old, remembered) = (state.attributes, state.remembered)
            var change = Change()
            for name in removed { state.attributes[name] = nil }
            state.remembered.subtract(removed)
            for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
                guard state.attributes[name] != nil || state.attributes.count < Limits.attributes else {
                    change.truncated += 1
                    continue
                }
                state.attributes[name] = value
                if isRemembered { state.remembered.insert(name) } else { state.remembered.remove(name) }
            }
            let changes = Self.changes(from: old, to: state.attributes)
            change.isRemembered =
                remembered != state.remembered || remembered.contains { old[$0] != state.attributes[$0] }
            guard !changes.isEmpty else { return change }
            state.version += 1
            change.isBeyondLimit = state.isBeyondLimit
            for entry in state.entries.values {
                let changes = entry.without(changes)
                if !changes.isEmpty { change.parts.append((entry.part, changes)) }
            }
            // The oldest first, so that the order of facts is always the same.
            change.parts.sort { $0.part.sequence < $1.part.sequence }
            return change
        }
    }

    /// A user's ID as nobody can read it who has not the salt of this installation.
    func hash(_ id: String) -> String {
        let salt = withState { state in
            let salt = state.salt ?? (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }.joined()
            state.salt = salt
            return salt
        }
        // Letters alone: digits in a row may have the shape of a number that is redacted.
        let letters = Array("abcdefghijklmnop")
        return String(
            SHA256.hash(Array("\(salt) \(id)".utf8)).prefix(8).flatMap { byte in
                [letters[Int(byte >> 4)], letters[Int(byte & 15)]]
            })
    }

    private static func changes(from old: Attributes, to new: Attributes) -> Fact.AttributesSet {
        Fact.AttributesSet(
            attributes: new.filter { old[$0.key] != $0.value }, removed: old.keys.filter { new[$0] == nil }.sorted())
    }

    // MARK: What is remembered

    /// Writes down what later launches are to have.
    ///
    /// - Returns: Why that failed; nil where it did not.
    func save() -> WaybillError? {
        guard let file else { return nil }
        return writing.withLock { _ in
            var content = withState { state in
                ContextFile.Content(
                    attributes: redactor.attributes(state.attributes.filter { state.remembered.contains($0.key) }).0,
                    salt: state.salt)
            }
            // Another process may have made one at the same time: from the next launch on both have the first.
            if content.salt != nil, let salt = file.read().salt { content.salt = salt }
            return write(content, to: file)
        }
    }

    /// Takes everything away that was set, the file included; parts that are open keep what they have.
    func forget() throws(WaybillError) {
        let problem = writing.withLock { _ in
            state.withLock { state in
                (state.attributes, state.remembered, state.salt) = ([:], [], nil)
                state.isRead = true
                state.version += 1
            }
            return file.flatMap { write(ContextFile.Content(), to: $0) }
        }
        if let problem { throw problem }
    }

    private func write(_ content: ContextFile.Content, to file: ContextFile) -> WaybillError? {
        do throws(WaybillError) {
            try file.write(content)
            return nil
        } catch {
            return error
        }
    }
}
