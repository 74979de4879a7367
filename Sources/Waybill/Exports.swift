// An app writes one import: the values that the manager takes and returns come with `import Waybill`.
@_exported public import WaybillCore
@_exported public import WaybillStore
