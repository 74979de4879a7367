// An app writes one import: the values of WaybillCore come with `import Waybill`.
@_exported public import WaybillCore
