"""openapi-python-client generates a client from the collector's OpenAPI description, and the client is used."""
import importlib
import json
import sys

import pytest
import yaml
from waybill import MEDIA_TYPE, ROOT, execute

SCHEMAS = ROOT / "Schemas"
BY_HAND = SCHEMAS / "examples/valid/by-hand.json"
# Protocol Buffers are bytes to the generator. Without hooks, it doesn't format the code.
SETTINGS = {"content_type_overrides": {"application/x-protobuf": "application/octet-stream"}, "post_hooks": []}


def bundled():
    """The description with the schemas that it refers to as components, because the generator reads one document."""
    components = {}

    def copy(node, file):
        """A copy whose references from `file` to files lead to components."""
        if isinstance(node, list):
            return [copy(item, file) for item in node]
        if not isinstance(node, dict):
            return node
        reference = node.get("$ref")
        if not isinstance(reference, str) or reference.startswith("#/components/"):
            # The generator has no conditions on several members.
            return {key: copy(value, file) for key, value in node.items() if key not in ("$id", "$schema", "$defs", "allOf")}
        path, _, part = reference.removeprefix("./").partition("#/$defs/")
        path = path or file
        name = path.partition(".")[0] + (f"-{part}" if part else "")
        if name not in components:
            schema = json.loads((SCHEMAS / path).read_text())
            components[name] = None  # A schema may refer to itself.
            components[name] = copy(schema["$defs"][part] if part else schema, path)
            components[name].pop("title", None)  # The class is named after the file.
        return {**node, "$ref": f"#/components/schemas/{name}"}

    document = copy(yaml.safe_load((SCHEMAS / "collector.openapi.yaml").read_text()), "collector.openapi.yaml")
    document["components"]["schemas"] |= components
    # For a body of several media types, the generator forgets an import.
    bodies = document["paths"]["/v1/sets"]["post"]["requestBody"]["content"]
    document["paths"]["/v1/sets"]["post"]["requestBody"]["content"] = {MEDIA_TYPE: bodies[MEDIA_TYPE]}
    return document


# The generator writes `version != 1and`.
pytestmark = pytest.mark.filterwarnings("ignore:invalid decimal literal:SyntaxWarning")


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """The modules of the generated client. The generator may not warn of anything."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "description.json").write_text(json.dumps(bundled()))
    (folder / "settings.json").write_text(json.dumps(SETTINGS))
    execute(
        sys.executable, "-m", "openapi_python_client", "generate", "--path", "description.json", "--config",
        "settings.json", "--meta", "none", "--output-path", "generated_waybill_client", "--fail-on-warning", cwd=folder)
    sys.path.insert(0, str(folder))
    yield lambda name: importlib.import_module(f"generated_waybill_client.{name}")
    sys.path.remove(str(folder))


def test_a_generated_client_sends_a_set_and_lists_its_transaction(generated, serve, tmp_path):
    collector = serve(tmp_path / "store", roles=["admin"])
    sent = json.loads(BY_HAND.read_text())
    client = generated("client").AuthenticatedClient(base_url=collector.url, token=collector.tokens["admin"])
    models = generated("models")
    with client:
        body = models.TransactionSet.from_dict(sent)
        assert body.to_dict() == sent
        receipt = generated("api.default.add_set").sync(client=client, body=body)
        page = generated("api.default.list_transactions").sync(client=client, use_case="login")
        again = generated("api.default.add_set").sync(client=client, body=body)
    assert (receipt.accepted, receipt.known, again.accepted, again.known) == (3, 0, 0, 3)
    [row] = page.rows
    assert str(row.id) == sent["sources"][0]["facts"][0]["transaction"]
    assert (row.use_case, row.use_case_name, row.outcome.value) == (17, "login", "succeeded")
    assert (row.begun_us, row.duration_us, row.event_count) == (1_795_633_079_432_000, 80_000, 1)


def test_a_generated_client_reads_the_reason_of_a_refusal(generated, serve, tmp_path):
    collector = serve(tmp_path / "store", roles=["read"])
    client = generated("client").AuthenticatedClient(base_url=collector.url, token=collector.tokens["read"])
    with client:
        body = generated("models").TransactionSet.from_dict(json.loads(BY_HAND.read_text()))
        problem = generated("api.default.add_set").sync(client=client, body=body)
    assert isinstance(problem, generated("models").Problem) and problem.status == 403
