// A test that imports this module sees what it tests, too: the app's own `import Waybill` counts for the app's files alone.
@_exported public import Waybill
