"""The workflow of GitHub builds what Package.swift names, for the platforms that it names. Nothing here can run it."""
import re
import subprocess

import pytest
import yaml
from waybill import ROOT

WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
JOBS = WORKFLOW["jobs"]
PACKAGE = (ROOT / "Package.swift").read_text()
STEPS = [(name, step) for name, job in JOBS.items() for step in job["steps"]]
SCRIPTS = [(name, step["run"]) for name, step in STEPS if "run" in step]
# Those that need a trait are for servers, and an app does not link them.
BEHIND_TRAITS = {"WaybillClickHouse", "WaybillHummingbird", "WaybillCollector", "WaybillTracing", "WaybillLogging", "WaybillGRPC", "WaybillAsyncHTTPClient",
                 "WaybillServiceLifecycle", "WaybillMetrics"}


def test_every_library_that_an_app_links_is_built():
    products = set(re.findall(r'\.library\(name: "(\w+)"', PACKAGE))
    assert BEHIND_TRAITS < products
    built = [re.search(r"for library in ([\w ]+);", script) for name, script in SCRIPTS if name == "build"]
    assert [set(names[1].split()) for names in built if names] == [products - BEHIND_TRAITS]


def test_every_platform_is_built_for_devices_and_simulators():
    platforms = set(re.findall(r"\.(\w+)\(\.v\d+\)", re.search(r"platforms: \[(.*?)\]", PACKAGE)[1]))
    matrix = JOBS["build"]["strategy"]["matrix"]
    assert {name.lower() for name in matrix["platform"]} == {name.lower() for name in platforms} - {"macos"}
    assert matrix["variant"] == ["", " Simulator"]
    assert {"iOS", "visionOS"} <= {each["platform"] for each in JOBS["simulators"]["strategy"]["matrix"]["include"]}


def test_every_mac_uses_the_xcode_that_is_named():
    assert re.fullmatch(r"/Applications/Xcode_\d+\.\d+\.app/Contents/Developer", WORKFLOW["env"]["DEVELOPER_DIR"])
    assert not [script for _, script in SCRIPTS if "xcode-select" in script], "a second way to say which"
    assert not [name for name, job in JOBS.items() if "DEVELOPER_DIR" in job.get("env", {})]
    assert {job["runs-on"] for job in JOBS.values()} == {"ubuntu-24.04", "macos-26"}, "an image by its version"


@pytest.mark.parametrize("name", JOBS)
def test_a_job_says_only_what_its_matrix_has(name):
    # An expression that names nothing is an empty text: the destination would be another one.
    matrix = JOBS[name].get("strategy", {}).get("matrix", {})
    keys = matrix.keys() - {"include"} | {key for each in matrix.get("include", []) for key in each}
    used = set(re.findall(r"matrix\.(\w+)", yaml.safe_dump(JOBS[name])))
    assert used == keys


@pytest.mark.parametrize("script", [script for _, script in SCRIPTS])
def test_a_script_is_one(script):
    subprocess.run(["bash", "-n"], input=script, text=True, check=True, timeout=60)
    assert "${{" not in script, "what an expression says is taken from the environment, where it is no script"


def test_every_job_has_an_end_and_no_token():
    assert all(0 < job["timeout-minutes"] <= 120 for job in JOBS.values())
    assert WORKFLOW["permissions"] == {"contents": "read"}
    checkouts = [step for _, step in STEPS if "checkout" in step.get("uses", "")]
    assert len(checkouts) == len(JOBS)
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)
