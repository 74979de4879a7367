import WaybillCore

/// As it is: these tests look at what pages make of a text, not at what a redactor does.
func unredacted<Value: Redactable>(_ value: Value) -> Redacted<Value> { Redactor.off.redacted(value) }
