#!/usr/bin/env python3
"""Checks the examples beside it against the schemas, with a validator that has nothing to do with Waybill (PyPI: jsonschema).

valid/            must fit.
invalid/          the envelope (or receipt) must not fit.
invalid-records/  the envelope must fit, and exactly one of its facts must not.
A name that starts with `rule-`: breaks a rule that a schema cannot express (see README.md), so here it must fit.
"""

import json
import sys
from pathlib import Path

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

HERE = Path(__file__).parent


def load_validators():
    schemas = {name: json.loads((HERE / f"{name}.v1.schema.json").read_text()) for name in ("fact", "transaction-set", "receipt")}
    registry = Registry().with_resources((schema["$id"], Resource.from_contents(schema)) for schema in schemas.values())
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    return {name: Draft202012Validator(schema, registry=registry) for name, schema in schemas.items()}


def bad_facts(document, validators):
    facts = [fact for source in document["sources"] for fact in source.get("facts", [])]
    return sum(not validators["fact"].is_valid(fact) for fact in facts)


def fault(path, validators):
    """What is wrong with the example as an example; None if nothing is."""
    document = json.loads(path.read_text())
    is_receipt = path.name.startswith("receipt-")
    breaks_rule = path.name.startswith("rule-")
    error = next(validators["receipt" if is_receipt else "transaction-set"].iter_errors(document), None)
    if path.parent.name == "invalid" and not breaks_rule:
        return "fits, and must not" if error is None else None
    if error is not None:
        return f"{error.json_path}: {error.message[:200]}"
    if is_receipt:
        return None
    expected = 1 if path.parent.name == "invalid-records" and not breaks_rule else 0
    found = bad_facts(document, validators)
    return None if found == expected else f"{found} facts do not fit, expected {expected}"


def main():
    validators = load_validators()
    passed = failed = 0
    for path in sorted((HERE / "examples").glob("*/*.json")):
        message = fault(path, validators)
        print(f"{'ok  ' if message is None else 'FAIL'} {path.relative_to(HERE)}{'' if message is None else ': ' + message}")
        passed, failed = passed + (message is None), failed + (message is not None)
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
