"""The samples of AskForYou.md, run over the sample store: what the guide shows is what the commands print."""
import json
import os
import re
import shlex
import subprocess

import pytest
from test_mcp import call
from waybill import ROOT, TIMEOUT, WAYBILL

GUIDE = (ROOT / "Sources/Waybill/Waybill.docc/AskForYou.md").read_text()
SHOWN = re.findall(r"```\n\$ waybill ([^\n]*)\n(.*?)\n```", GUIDE, re.S)
JSON = re.findall(r"```json\n(.*?)\n```", GUIDE, re.S)


@pytest.fixture(scope="module")
def store(sample_store):
    return sample_store / "sample.sqlite"


@pytest.mark.parametrize("command, output", SHOWN, ids=[command.split(".")[0] for command, _ in SHOWN])
def test_a_command_prints_what_the_guide_shows(command, output, store, tmp_path):
    (tmp_path / "budgets.json").write_text(next(sample for sample in JSON if "p95_ms" in sample))
    words = [str(store) if word == ".build/sample.sqlite" else word for word in shlex.split(command)]
    done = subprocess.run(
        [str(WAYBILL), *words], capture_output=True, text=True, timeout=TIMEOUT, cwd=tmp_path,
        env=os.environ | {"COLUMNS": "80"})
    assert done.stdout.rstrip("\n") == output, done.stderr
    assert done.returncode == (1 if "broken" in output else 0)


def test_all_commands_with_output_are_tried():
    assert len(SHOWN) == 2


def test_an_agent_can_make_the_calls_of_the_guide(store):
    samples = [json.loads(sample) for sample in JSON if '"arguments"' in sample]
    inline = [json.loads(text) for text in re.findall(r'`(\{"question": "why", [^`]*\})`', GUIDE)]
    assert len(samples) == len(inline) == 1
    assert json.loads(call(store, samples[0]["name"], **samples[0]["arguments"]))["segments"]
    assert json.loads(call(store, "ask", **inline[0]))["differences"]
