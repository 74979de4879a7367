"""The `async` forms of a delegate's methods. Swift imports a method with a completion handler in two forms; a protocol of Swift can declare only one of
them, and the compiler does not compare the other. So the labels are compared here."""
import functools
import re

from apple.platforms import DECLARATIONS

METHOD = re.compile(r"\bfunc (\w+)\(")


def parameters(text: str, start: int) -> tuple[list[str], int]:
    """The parameters of a function whose parenthesis opens before `start`, and where it closes."""
    depth, begin, found = 1, start, []
    for place in range(start, len(text)):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[place], 0)
        if depth == 0 or depth == 1 and text[place] == ",":
            found.append(text[begin:place].strip())
            begin = place + 1
        if depth == 0:
            return [parameter for parameter in found if parameter], place
    return [], len(text)


def name(base: str, parameters: list[str]) -> str:
    return f"{base}({''.join(re.split(r'[ :]', parameter)[0] + ':' for parameter in parameters)})"


@functools.cache
def known() -> tuple[set[str], set[str]]:
    """The `async` forms that the declarations have or imply, and the base names of all methods that a delegate has."""
    forms, bases = set(), set()
    for file in DECLARATIONS.glob("*.swift"):
        text = file.read_text()
        for protocol in re.finditer(r"@objc public protocol [^{]*{(.*?)^}", text, re.M | re.S):
            for method in METHOD.finditer(protocol[1]):
                given, end = parameters(protocol[1], method.end())
                bases.add(method[1])
                if given and given[-1].startswith("completionHandler:"):
                    forms.add(name(method[1], given[:-1]))
                elif re.match(r"\)\s*async\b", protocol[1][end:]):
                    forms.add(name(method[1], given))
    return forms, bases - {"use", "cancel"}


def findings(path: str, text: str) -> list[str]:
    """What is found in a file, as the compiler would say it."""
    forms, bases = known()
    lines = []
    for method in METHOD.finditer(text):
        given, end = parameters(text, method.end())
        if method[1] in bases and re.match(r"\)\s*async\b", text[end:]) and name(method[1], given) not in forms:
            line = text.count("\n", 0, method.start()) + 1
            lines.append(f"{path}:{line}:1: error: no delegate has the async method {name(method[1], given)}")
    return lines
