"""The header field that carries a transaction: `Waybill-Transaction: "<guid>";u=7;s="<source>";n=4`."""

import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

FIELD_NAME = "Waybill-Transaction"
LENGTH_LIMIT = 512

# A bare item of structured fields (RFC 9651, section 4.2.3.1). Ours has strings and integers; the other types are only skipped.
BARE_ITEM = r"""(?: "(?P<string> (?: [\x20!\#-\[\]-~] | \\["\\] )* )"
                  | -?[0-9]{1,12}\.[0-9]{1,3}           # decimal
                  | (?P<integer> -?[0-9]{1,15} )
                  | [A-Za-z*][A-Za-z0-9!\#$%&'*+\-.^_`|~:/]*  # token
                  | \?[01]
                  | @-?[0-9]{1,15}                      # date
                  | :(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?:  # bytes
                  | %"(?P<display> (?: [\x20!\#$&-~] | %[0-9a-f]{2} )*)" )"""
ITEM = re.compile(BARE_ITEM, re.VERBOSE)
PARAMETER = re.compile(r";\x20* (?P<key> [a-z*][a-z0-9_\-.*]* ) (?: =" + BARE_ITEM + ")?", re.VERBOSE)
GUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


@dataclass(frozen=True)
class TransactionHeader:
    """Which transaction a request belongs to. Untrusted: it says where to record, and grants nothing."""

    transaction: str
    use_case: int
    source: str | None = None
    """The sender's source, if it told."""
    exchange: int | None = None
    """The sequence of the sender's `exchange_opened` fact in its source."""

    @staticmethod
    def parse(value: str | None) -> "TransactionHeader | None":
        """Reads a field's value; None for what is absent or malformed, which is to be ignored. What is not known in it is ignored, too."""
        if value is None or len(value) > LENGTH_LIMIT:
            return None
        value = value.strip(" ")
        item = ITEM.match(value)
        if not item or not is_guid(item["string"]):
            return None
        parameters: dict[str, re.Match] = {}
        position = item.end()
        while position < len(value):
            parameter = PARAMETER.match(value, position)
            if not parameter or not is_utf8(parameter["display"]):
                return None
            parameters[parameter["key"]] = parameter  # of one that comes twice, the last
            position = parameter.end()

        use_case = integer(parameters.get("u"), least=0)
        source = parameters["s"]["string"] if "s" in parameters else None
        exchange = integer(parameters.get("n"), least=1)
        if use_case is None or "s" in parameters and not is_guid(source) or "n" in parameters and (exchange is None or source is None):
            return None
        return TransactionHeader(item["string"].lower(), use_case, source and source.lower(), exchange)


def is_utf8(display_string: str | None) -> bool:
    try:
        unquote_to_bytes(display_string or "").decode()
        return True
    except UnicodeDecodeError:
        return False


def is_guid(text: str | None) -> bool:
    return text is not None and GUID.fullmatch(text) is not None


def integer(parameter: re.Match | None, least: int) -> int | None:
    if parameter is None or parameter["integer"] is None or int(parameter["integer"]) < least:
        return None
    return int(parameter["integer"])
