#!/usr/bin/env python3
"""Checks the examples in this folder against the schemas, with a validator that is independent of Waybill (PyPI: jsonschema).

valid/            must fit.
invalid/          the envelope (or receipt) must not fit.
invalid-records/  the envelope must fit, and exactly one of its facts must not.
rules-valid/, rules-invalid/  rules that must fit, and that must not.
legacy/           must fit version 0.0.1; legacy-invalid/ must not.
export/           every NDJSON line must fit, and the CSV must hold the same values under the schema's columns.
A name that starts with `rule-`: breaks a rule that a schema cannot express (see README.md), so here it must fit.
"""

import csv
import json
import sys
from pathlib import Path

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

HERE = Path(__file__).parent


def load_validators():
    schemas = {name: json.loads((HERE / f"{name}.v1.schema.json").read_text()) for name in ("fact", "transaction-set", "receipt", "export", "rules")}
    schemas["legacy"] = json.loads((HERE / "legacy-set.v0.0.1.schema.json").read_text())
    registry = Registry().with_resources((schema["$id"], Resource.from_contents(schema)) for schema in schemas.values())
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    return {name: Draft202012Validator(schema, registry=registry) for name, schema in schemas.items()}


def bad_facts(document, validators):
    facts = [fact for source in document["sources"] for fact in source.get("facts", [])]
    return sum(not validators["fact"].is_valid(fact) for fact in facts)


def fault(path, validators):
    """The mistake of an example; None if it is right."""
    document = json.loads(path.read_text())
    is_receipt = path.name.startswith("receipt-")
    is_rules = path.parent.name.startswith("rules-")
    breaks_rule = path.name.startswith("rule-")
    kind = "rules" if is_rules else "receipt" if is_receipt else "transaction-set"
    error = next(validators[kind].iter_errors(document), None)
    if path.parent.name in ("invalid", "rules-invalid") and not breaks_rule:
        return "fits, and must not" if error is None else None
    if error is not None:
        return f"{error.json_path}: {error.message[:200]}"
    if is_receipt or is_rules:
        return None
    expected = 1 if path.parent.name == "invalid-records" and not breaks_rule else 0
    found = bad_facts(document, validators)
    return None if found == expected else f"{found} facts do not fit, expected {expected}"


def legacy_fault(path, validators):
    """The mistake of an example of a set of version 0.0.1; None if it is right."""
    error = next(validators["legacy"].iter_errors(json.loads(path.read_text())), None)
    if path.parent.name == "legacy-invalid":
        return "fits, and must not" if error is None else None
    return None if error is None else f"{error.json_path}: {error.message[:200]}"


def export_fault(path, validators):
    """The mistake of an NDJSON export or the CSV beside it; None if both are right."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for number, row in enumerate(rows, 1):
        error = next(validators["export"].iter_errors(row), None)
        if error is not None:
            return f"line {number}: {error.json_path}: {error.message[:200]}"
    columns = list(validators["export"].schema["properties"])
    if unknown := {key for row in rows for key in row}.difference(columns):
        return f"not in the schema: {unknown}"
    with path.with_suffix(".csv").open(newline="") as file:
        table = list(csv.reader(file))
    if table[0] != columns:
        return "the CSV's header is not the schema's columns"
    # An apostrophe keeps a spreadsheet from computing what a text begins with.
    text = lambda value: f"'{value}" if value[:1] in [*"=+-@\t\r\n'"] else value
    cell = lambda value: text(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    expected = [["" if row.get(column) is None else cell(row[column]) for column in columns] for row in rows]
    return None if table[1:] == expected else "the CSV does not hold the same values"


def main():
    validators = load_validators()
    passed = failed = 0
    examples = HERE / "examples"
    for path in sorted([*examples.glob("*/*.json"), *examples.glob("*/*.ndjson")]):
        judge = export_fault if path.suffix == ".ndjson" else legacy_fault if path.parent.name.startswith("legacy") else fault
        message = judge(path, validators)
        print(f"{'ok  ' if message is None else 'FAIL'} {path.relative_to(HERE)}{'' if message is None else ': ' + message}")
        passed, failed = passed + (message is None), failed + (message is not None)
    exported = {key for path in examples.glob("export/*.ndjson") for line in path.open() for key in json.loads(line)}
    for column in validators["export"].schema["properties"].keys() - exported:
        print(f"FAIL examples/export: no example of the column {column}")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
