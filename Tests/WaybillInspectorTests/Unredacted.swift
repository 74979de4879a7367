import WaybillCore

/// Wraps a value unredacted, for tests of pages that don't test redaction.
func unredacted<Value: Redactable>(_ value: Value) -> Redacted<Value> { Redactor.off.redacted(value) }
