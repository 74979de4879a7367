public import WaybillCore
import WaybillStore

/// The attributes that every new transaction of a manager has, such as the user, the tenant or an experiment's variant.
///
/// ## Usage
///
/// ```swift
/// transactions.context.setUser(account.id)  // hashed
/// transactions.context.set(account.tenant, forKey: "tenant")
/// transactions.context.set("beta", forKey: "channel", remembered: true)  // later launches have it, too
/// transactions.context.remove("tenant")
/// ```
///
/// A change also applies to at most 1,000 open transactions from that moment. A transaction's own attributes override
/// the context. Values are redacted, and at most 32 names are kept. ``TransactionManager/erase(_:)`` of everything or
/// of the installation clears the context, and so does ``TransactionManager/resetInstallation()``.
public struct TransactionContext: Sendable {
    let sources: SourceRegistry

    /// The current attributes.
    public var attributes: Attributes { sources.context.attributes }

    /// The value of one name. Assign `nil` to remove it. Later launches don't remember it.
    public subscript(name: String) -> AttributeValue? {
        get { attributes[name] }
        nonmutating set { set(newValue, forKey: name) }
    }

    /// Sets the value of one name, for new and open transactions. `nil` removes it. With `remembered`, later launches
    /// have the redacted value, too, from a file in the store's folder that only its owner can read.
    public func set(_ value: (any AttributeConvertible)?, forKey name: String, remembered: Bool = false) {
        let change = Fact.AttributesSet(name, value)
        sources.changeContext(change.attributes, removed: change.removed, isRemembered: remembered)
    }

    /// Sets several values at once and keeps all others; see ``set(_:forKey:remembered:)``.
    public func set(_ attributes: Attributes, remembered: Bool = false) {
        sources.changeContext(attributes, removed: [], isRemembered: remembered)
    }

    /// Sets the attribute `user` to a pseudonym of a user's ID; `nil` removes it.
    ///
    /// The pseudonym is the first 64 bits of the SHA-256 of a salt and the ID, as sixteen letters. The random salt
    /// stays in the store's folder. <doc:Privacy> explains what that hides, and compares it with the ID itself.
    public func setUser(_ id: String?, remembered: Bool = false) {
        guard let id else { return remove("user") }
        set(sources.context.hash(id), forKey: "user", remembered: remembered)
        // The salt belongs to the installation and is saved even if the value is not remembered.
        sources.saveContext()
    }

    /// Removes values, including remembered ones.
    public func remove(_ names: String...) {
        sources.changeContext([:], removed: Array(Set(names)), isRemembered: false)
    }

    /// Removes all values, including remembered ones.
    public func removeAll() {
        sources.changeContext([:], removed: Array(attributes.keys), isRemembered: false)
    }
}

extension TransactionManager {
    /// The attributes that every new transaction has.
    public var context: TransactionContext { TransactionContext(sources: sources) }

    /// Sets the variant of a feature flag in the ``context``: `exposed("layout", "B")` sets `flag.layout`. `nil` removes it.
    ///
    /// A server that decides for each request sets the attribute of its transaction instead.
    public func exposed(_ flag: String, _ variant: (any AttributeConvertible)?) {
        context.set(variant, forKey: "flag.\(flag)")
    }
}

final class ContextKeeper: Sendable {
    struct Part: Sendable {
        var source: SourceRecorder
        var transaction: GUID
        var useCase: Int
        var sequence: Int64
        var isJoined = false

        fileprivate var id: FactID { FactID(source: source.id, sequence: sequence) }
    }

    struct Moment {
        fileprivate var attributes: Attributes
        fileprivate var version: Int
    }

    static let partLimit = 1_000

    private struct Entry {
        var part: Part
        var own: Attributes
        var set: Set<String> = []

        func without(_ changes: Fact.AttributesSet) -> Fact.AttributesSet {
            func isFree(_ name: String) -> Bool { own[name] == nil && !set.contains(name) }
            return Fact.AttributesSet(
                attributes: changes.attributes.filter { isFree($0.key) }, removed: changes.removed.filter(isFree))
        }
    }

    private struct State {
        var attributes: Attributes = [:]
        var remembered: Set<String> = []
        var salt: String?
        var isRead = false
        var version = 0
        var entries: [FactID: Entry] = [:]
        var isBeyondLimit = false
    }

    private let state = Locked(State())
    /// Held while the file is written, or a forgotten value could come back.
    private let writing = Locked(())
    private let file: ContextFile?
    private let redactor: Redactor

    init(file: ContextFile?, redactor: Redactor) {
        self.file = file
        self.redactor = redactor
    }

    var attributes: Attributes { withState { $0.attributes } }

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

    /// `omitted` counts the attributes that exceed the limit.
    func attributes(with own: Attributes) -> (all: Attributes, omitted: Int, moment: Moment) {
        let moment = withState { Moment(attributes: $0.attributes, version: $0.version) }
        if moment.attributes.isEmpty { return (own, 0, moment) }
        if own.isEmpty { return (moment.attributes, 0, moment) }
        var (all, omitted) = (own, 0)
        for name in moment.attributes.keys.sorted() where own[name] == nil {
            if all.count < Limits.attributes { all[name] = moment.attributes[name] } else { omitted += 1 }
        }
        return (all, omitted, moment)
    }

    /// It looks at no more than 100 parts, since it is only for a hint.
    func latestBegun() -> Int? {
        state.withLock { state in
            state.entries.values.lazy.prefix(100).map(\.part).filter { !$0.isJoined }
                .max { $0.sequence < $1.sequence }?.useCase
        }
    }

    /// Returns the changes that the part missed while it was opening.
    func opened(_ part: Part, own: Attributes, since moment: Moment) -> Fact.AttributesSet? {
        state.withLock { state in
            let entry = Entry(part: part, own: own)
            if state.entries.count < Self.partLimit {
                state.entries[part.id] = entry
            } else {
                state.isBeyondLimit = true
            }
            guard state.version != moment.version else { return nil }
            let missed = entry.without(Self.changes(from: moment.attributes, to: state.attributes))
            return missed.isEmpty ? nil : missed
        }
    }

    func note(_ changes: Fact.AttributesSet, of part: Part) {
        state.withLock { $0.entries[part.id]?.set.formUnion(changes.attributes.keys + changes.removed) }
    }

    func closed(_ sequence: Int64, of source: SourceRecorder) {
        state.withLock { _ = $0.entries.removeValue(forKey: FactID(source: source.id, sequence: sequence)) }
    }

    // MARK: Changes

    struct Change {
        var parts: [(part: Part, changes: Fact.AttributesSet)] = []
        var truncated = 0
        var isBeyondLimit = false
        var isRemembered = false
    }

    func change(_ attributes: Attributes, removed: [String], isRemembered: Bool) -> Change {
        withState { state in
            let (old, remembered) = (state.attributes, state.remembered)
            var change = Change()
            for name in removed { state.attributes[name] = nil }
            state.remembered.subtract(removed)
            for (name, value) in attributes.sortedByName {
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
            // Sort for a stable order of facts.
            change.parts.sort { $0.part.sequence < $1.part.sequence }
            return change
        }
    }

    func hash(_ id: String) -> String {
        let salt = withState { state in
            let salt = state.salt ?? (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }.joined()
            state.salt = salt
            return salt
        }
        // Only letters, since digits may have the shape of a number that is redacted.
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

    func save() -> WaybillError? {
        guard let file else { return nil }
        return writing.withLock { _ in
            var content = withState { state in
                ContextFile.Content(
                    attributes: redactor.attributes(state.attributes.filter { state.remembered.contains($0.key) }).0,
                    salt: state.salt)
            }
            // Another process may have made a salt at the same time. Both use the first one from the next launch on.
            if content.salt != nil, let salt = file.read().salt { content.salt = salt }
            return write(content, to: file)
        }
    }

    /// Open parts keep their attributes.
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
