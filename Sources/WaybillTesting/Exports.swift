// A test that imports this module sees what it tests, and what it reads to test it: the app's own imports count for the app's files alone.
@_exported public import Waybill
@_exported public import WaybillQueries
