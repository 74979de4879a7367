package import WaybillCore

/// Who may speak for an installation: the secrets of those of this store, and what is known of any other.
package struct InstallationRows {
    package let connection: Connection

    package init(connection: Connection) { self.connection = connection }

    // MARK: Of this store

    /// Gives an installation its secret; one that it has stays.
    package func register(_ installation: GUID, proof: IdentityProof) throws(WaybillError) {
        try connection.statement("INSERT INTO settings(key, value) VALUES (?, ?) ON CONFLICT DO NOTHING").run(
            Self.key(installation), proof.text)
    }

    /// The secret of an installation; nil where it has none here.
    package func proof(of installation: GUID) throws(WaybillError) -> IdentityProof? {
        try connection.statement("SELECT value FROM settings WHERE key = ?").first(Self.key(installation)) { row in
            IdentityProof(row.text(0))
        } ?? nil
    }

    /// Beside the setting that names the installation, so that damage takes both or none.
    private static func key(_ installation: GUID) -> String { "installation_proof \(installation)" }

    // MARK: Of any other

    /// Whether who shows `proof` may speak for an installation: who spoke for it first may, and anybody may for one that
    /// was first spoken for without a secret.
    package func admits(_ proof: IdentityProof?, for installation: GUID) throws(WaybillError) -> Bool {
        let bound = try connection.statement("SELECT proof_hash FROM installations WHERE guid = ?").first(installation)
        { row in row.optionalBytes(0) }
        guard let digest = bound ?? nil else { return true }
        return digest == proof?.digest
    }

    /// Binds an installation that was not heard of before to a secret, or to none.
    package func bind(_ installation: GUID, to proof: IdentityProof?) throws(WaybillError) {
        try connection.statement("INSERT INTO installations(guid, proof_hash) VALUES (?, ?) ON CONFLICT DO NOTHING")
            .run(installation, (proof?.digest).map(ColumnValue.blob))
    }
}
