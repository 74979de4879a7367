"""schemathesis tries what the OpenAPI description of a collector allows and forbids; EXAMPLES=n for each operation."""
import os
import sys

import pytest
from waybill import ROOT, execute

EXAMPLES = os.environ.get("EXAMPLES", "3")
SECONDS = 1700


@pytest.mark.timeout(SECONDS + 60)
@pytest.mark.parametrize("phases", ["coverage", "examples,fuzzing,stateful"])
def test_no_answer_is_a_500_or_violates_the_description(phases, serve, tmp_path):
    collector = serve(tmp_path / "store", roles=["admin"])
    execute(
        sys.executable, "-m", "schemathesis.cli", "run", ROOT / "Schemas/collector.openapi.yaml",
        "--url", collector.url, "--header", f"Authorization: Bearer {collector.tokens['admin']}", "--phases", phases,
        "--max-examples", EXAMPLES, "--seed", "1", "--no-color", "--max-failures", "20", "--request-timeout", "30",
        "--suppress-health-check", "all", "--checks", "all",
        # The token is given with each request by us, so that those made without it are not without it. And what is
        # valid depends on what is stored (a use case's name, a cursor), and on the schema of sets, which is elsewhere.
        "--exclude-checks", "ignored_auth,positive_data_acceptance", cwd=tmp_path, timeout=SECONDS)
