public import Waybill

extension SetFormat {
    // Named as the version is.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Version 0.0.1, of the PEAppTransaction Logging Framework (2015), for those who run a server of its kind:
    /// transactions with their events.
    ///
    /// Sets go to the delivery's address as it is, and any 2xx settles one: such a server gives no verdicts, and knows
    /// nothing of what it has already. What the format has no place for, endings and exchanges, goes into quarantine
    /// with the reason, so that it is counted and can be sent to a collector later; attributes are left out. The guide
    /// <doc:MoveFromPELF> has the whole of it.
    ///
    /// - Parameters:
    ///   - prefix: Of the media type `application/<prefix>apptxnset-v0.0.1+json;charset=UTF-8`, e.g. `vnd.fp.`.
    ///   - scheme: Of `Authorization: <scheme> <parameter>="<token>"`, e.g. `fp-auth`. Each server has its own; a
    ///     collector of Waybill's takes any.
    ///   - parameter: The token's name in it, e.g. `fp-token`.
    ///   - mediaTypeVersion: What stands in the media type in place of `0.0.1`, e.g. `1.0.0`, where the old manager was
    ///     made with another one; what is in a set stays the same.
    public static func v0_0_1(
        prefix: String, scheme: String = "auth", parameter: String = "token", mediaTypeVersion: String = "0.0.1"
    ) -> SetFormat {
        SetFormat(wire: LegacyWire(prefix: prefix, scheme: scheme, parameter: parameter, version: mediaTypeVersion))
    }
}
