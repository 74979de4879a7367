"""What an `Int` of 32 bits, as on older watches, has no room for: looked for in the syntax tree that the compiler makes of a file."""
import re

LARGEST = 2**31 - 1
# By this factor and beyond, what is multiplied may be no more than 2^15.
FACTOR = 2**16
# Names of numbers that pass 2^31: `x`, `someX` and lists of them.
NAMES = re.compile(r"^(?:\w*(?:[mM]icroseconds|[nN]anoseconds)|sequences?|\w*(?<!first)Sequence|parentPart|cutoff|uptime)$")
# What has such a name and is none: the place of a word in the journal's header.
EXCEPTIONS = {("JournalLayout.swift", "startMicroseconds")}

LINE = re.compile(r"^( *)\((?:\w+=)?(binary_expr|integer_literal_expr|declref_expr|var_decl|parameter|param_decl)\b(.*)$", re.M)
LITERAL = re.compile(r' type="Int" location=(\S+).*? (?:negative )?value="(\d+)"')
PRODUCT = re.compile(r' type="\(Int\.Type\) -> \((?:inout )?Int, Int\) -> .*? decl="[^"]*?\.&?\*=?[ "]')
DECLARED = re.compile(r'range=\[(\S+?) .*?\] "(\w+)".*? interface_type="([^"]*)"')


def is_narrow(kind: str) -> bool:
    """Whether a type has an `Int` for the number itself."""
    return re.sub(r"[?\[\]]", "", kind) in {"Int", "Range<Int>", "ClosedRange<Int>", "Set<Int>", "Optional<Int>"}


class Operation:
    """An expression with an operator and two sides: how far it is indented, whether it multiplies, and which of its sides are literals, and where."""

    def __init__(self, indentation: int):
        self.indentation, self.is_product, self.literals = indentation, False, []

    def findings(self) -> list[str]:
        if not self.is_product:
            return []
        is_whole = len(self.literals) == 2
        factors = [(place, value) for place, value in self.literals if value >= FACTOR]
        if is_whole and self.literals[0][1] * self.literals[1][1] <= LARGEST:
            return []
        return [f"{place}: error: an Int is multiplied by {value}" for place, value in factors]


def findings(tree: str) -> list[str]:
    """What is found in the tree of a file, each once, as the compiler would say it."""
    lines = {}
    around: list[Operation] = []
    for match in LINE.finditer(tree):
        indentation, kind, rest = len(match[1]), match[2], match[3]
        while around and around[-1].indentation >= indentation:
            lines |= dict.fromkeys(around.pop().findings())
        if kind == "binary_expr":
            around.append(Operation(indentation))
        elif kind == "declref_expr":
            if around and PRODUCT.search(rest):
                around[-1].is_product = True
        elif kind == "integer_literal_expr":
            if (literal := LITERAL.search(rest)) and int(literal[2]) > LARGEST:
                lines[f"{literal[1]}: error: {literal[2]} is an Int"] = None
            elif literal and around:
                around[-1].literals.append((literal[1], int(literal[2])))
        elif (declared := DECLARED.search(rest)) and NAMES.match(declared[2]) and is_narrow(declared[3]):
            if (declared[1].split(":")[0].split("/")[-1], declared[2]) not in EXCEPTIONS:
                lines[f"{declared[1]}: error: {declared[2]} is an {declared[3]}"] = None
    for operation in around:
        lines |= dict.fromkeys(operation.findings())
    return list(lines)
