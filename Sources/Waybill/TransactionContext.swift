public import WaybillCore

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

    /// How the ID of a user is recorded.
    public enum UserForm: Sendable, Hashable {
        /// As sixteen letters that stand for it in this installation.
        ///
        /// The first 64 bits of the SHA-256 of a salt and the ID. The salt is random, stays in the store's folder, and is
        /// never sent: who has the records alone cannot try out IDs, and the same user has other letters in another
        /// installation, so that no user can be followed from one device to the next. Who has the device's files can try
        /// out all IDs that there may be. It is a pseudonym, not anonymity: transactions of one user stay tied together,
        /// and other attributes may say who it is.
        case hashed
        /// As it is, for those who have to find a person's transactions, on all devices.
        case plain
    }

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

    /// Sets who the user is, as the attribute `user`; nil: no user is known any more.
    ///
    /// - Parameters:
    ///   - id: What the app knows the user by.
    ///   - form: Whether it is hashed. Default: it is.
    ///   - remembered: As with ``set(_:_:remembered:)``.
    public func setUser(_ id: String?, _ form: UserForm = .hashed, remembered: Bool = false) {
        guard let id else { return remove("user") }
        switch form {
        case .hashed:
            set("user", sources.context.hash(id), remembered: remembered)
            // Also where it is not remembered: the salt is the installation's.
            sources.saveContext()
        case .plain: set("user", id, remembered: remembered)
        }
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
