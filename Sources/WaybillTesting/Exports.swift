// Tests use the API of both modules, but an app's imports don't apply to its tests.
@_exported public import Waybill
@_exported public import WaybillQueries
