import WaybillCore

@testable import WaybillInspector

/// Wraps a value unredacted, for tests of pages that don't test redaction.
func unredacted<Value: Redactable>(_ value: Value) -> Redacted<Value> { Redactor.off.redacted(value) }

extension InspectorFrame {
    /// The frame of a page with these parameters, of which something may be wrong.
    func at(
        _ items: [(name: String, value: String)], root: String = "", mistake: String? = nil
    ) -> InspectorFrame {
        var frame = self
        frame.root = root
        frame.address = ListAddress(items)
        frame.mistake = mistake.map(unredacted)
        return frame
    }
}
