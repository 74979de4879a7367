// `import Waybill` also imports the values that the manager takes and returns.
@_exported public import WaybillCore
@_exported public import WaybillStore
