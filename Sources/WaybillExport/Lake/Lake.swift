/// Where incremental exports go, a folder or a bucket: what has a name there is never replaced.
///
/// | name | what it is |
/// |---|---|
/// | `lake.json` | the version of all this |
/// | `facts/<hash>.ndjson.gz` | facts, named by the SHA-256 of the file's bytes |
/// | `increments/<number>.json` | an ``Increment``: which files count, and where the next run goes on |
///
/// What a killed run has left of `facts` is in no increment, and counts for nothing.
package protocol Lake: Sendable {
    /// What errors and people call something that is in it.
    func place(of name: String) -> String

    /// The names in a folder of it, without the folder's own.
    func names(in folder: String) async throws -> [String]

    /// nil where there is nothing of that name.
    func bytes(of name: String) async throws -> [UInt8]?

    /// Puts something there, unless something of that name is there: of two that do it at once, one does.
    ///
    /// - Returns: Whether it did; where it is not known, because an answer was lost, false.
    func put(_ bytes: [UInt8], as name: String) async throws -> Bool

    /// What an earlier version has exported to the same place, which noted its cursor otherwise; nil for nothing.
    func earlier() async throws -> Increment?

    /// Has the earlier version refuse to go on there, once its increment is among ours.
    func endEarlier() async throws
}

extension Lake {
    package func earlier() -> Increment? { nil }
    package func endEarlier() {}
}
