"""What a backend has to do to take part in Waybill's transactions, in Python's standard library alone."""

from .delivery import Delivery
from .header import FIELD_NAME, TransactionHeader
from .recorder import Recorder

__all__ = ["Delivery", "FIELD_NAME", "Recorder", "TransactionHeader"]
