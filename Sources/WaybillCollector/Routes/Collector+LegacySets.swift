#if Collector
import Hummingbird
import WaybillCore
import WaybillExport
import WaybillLegacy
import WaybillReading

extension Collector {
    /// Takes in a set of version 0.0.1, and answers as its clients expect; returns only after the synced commit.
    ///
    /// They delete what they have sent on any 2xx, wait as a 503 says, and forget their token on a 401. Anything else
    /// they send again without end: so only what is no set at all is refused, and a transaction that cannot be read is
    /// kept in quarantine.
    func addLegacySet(_ body: [UInt8], to project: Project) async throws -> Response {
        let set: LegacySet
        do throws(SetDecodingFailure) { set = try LegacySet.decode(body) } catch { throw Problem(error) }
        let count = set.factCount + set.unread.count
        guard count <= limits.factsPerSet else { throw Problem.tooMany(facts: count, limit: limits.factsPerSet) }
        let digest = SHA256.hash(body)
        _ = try await project.store.add(set, digest: digest)
        return Response(status: .accepted, headers: [.cacheControl: "no-store", .contentLength: "0"])
    }
}
#endif
