/// In which version of the format sets go out, and what is understood as their receipt.
///
/// Version 1 is the only one here; `import WaybillLegacy` adds version 0.0.1.
public struct SetFormat: Sendable {
    let wire: any SetWire

    package init(wire: any SetWire) { self.wire = wire }

    /// Version 1, which collectors of Waybill take: everything that was recorded, compressed, and a receipt with a
    /// verdict on each fact.
    public static let v1 = SetFormat(wire: CollectorWire())
}
