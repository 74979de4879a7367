"""GitHub's workflows: one builds what Package.swift names, for the platforms that it names, and one publishes the site. Nothing here can run them."""
import re
import subprocess

import pytest
import yaml
from waybill import ROOT

WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
JOBS = WORKFLOW["jobs"]
PACKAGE = (ROOT / "Package.swift").read_text()
SITE = yaml.safe_load((ROOT / ".github/workflows/docs.yml").read_text())
ALL_JOBS = [*JOBS.items(), *SITE["jobs"].items()]
STEPS = [(name, step) for name, job in ALL_JOBS for step in job["steps"]]
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
    assert {"iOS", "visionOS"} <= set(JOBS["simulators"]["strategy"]["matrix"]["platform"])


def test_every_mac_uses_its_images_xcode_and_names_the_oldest_one():
    # A version by its path breaks each job when an image drops that Xcode.
    assert not re.search(r"DEVELOPER_DIR|xcode-select|Xcode_\d|OS=\d", yaml.safe_dump(WORKFLOW))
    oldest = WORKFLOW["env"]["OLDEST_XCODE"]
    # Xcode 26.0 is the first one with Swift 6.2.
    assert (oldest, re.search(r"swift-tools-version: (\S+)", PACKAGE)[1]) == ("26.0", "6.2")
    assert [name for name, script in SCRIPTS if "OLDEST_XCODE" in script] == ["macos", "build"]
    assert {job["runs-on"] for job in JOBS.values()} == {"ubuntu-24.04", "macos-26"}, "an image by its version"


def test_a_pull_request_from_a_fork_needs_no_secret():
    text = yaml.safe_dump(WORKFLOW)
    assert "secrets." not in text and "pull_request_target" not in text
    assert "pull_request" in WORKFLOW[True]  # YAML 1.1 reads the key `on` as a Boolean


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
    assert all(0 < job["timeout-minutes"] <= 120 for _, job in ALL_JOBS)
    assert WORKFLOW["permissions"] == SITE["permissions"] == {"contents": "read"}
    assert {name: job["permissions"] for name, job in ALL_JOBS if "permissions" in job} == {
        "deploy": {"pages": "write", "id-token": "write"}}, "only what publishes may write"
    checkouts = [step for _, step in STEPS if "checkout" in step.get("uses", "")]
    assert len(checkouts) == len(ALL_JOBS) - 1, "what publishes has no code"
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_the_published_site_is_the_one_that_make_docs_builds():
    steps = SITE["jobs"]["build"]["steps"]
    assert [step["with"]["path"] for step in steps if "upload-pages-artifact" in step.get("uses", "")] == [".build/docs"]
    assert any(step.get("run", "").startswith('make docs BASE="$BASE"') for step in steps)
    assert SITE["jobs"]["build"]["container"] == JOBS["linux"]["container"], "one compiler for both"
