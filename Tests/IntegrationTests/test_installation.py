"""What Scripts/install puts below a prefix: it is complete, serves, is backed up while it does, and ends."""
import http.client
import os
import shutil
import subprocess

import pytest
from waybill import TIMEOUT, ROOT, WAYBILL, Service, execute

PREFIX = "/opt/waybill"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    execute(ROOT / "Scripts/install", PREFIX=PREFIX, DESTDIR=str(root), BINARY=str(WAYBILL))
    return root / PREFIX.lstrip("/")


def test_the_manual_page_has_the_help_of_every_verb(installed):
    page = (installed / "share/man/man1/waybill.1").read_text()
    verbs = ["list", "show", "ask", "export", "serve", "token", "import", "verify", "erase", "backup", "migrate", "move"]
    for verb in verbs:
        assert f'.SH "waybill {verb}"\n' in page and f"USAGE: waybill {verb} " in page, verb
    assert "--tls-cert chain.pem" in page and " \\e\n" in page, "a backslash at the end of a line is one for roff, too"


@pytest.fixture
def unit(installed):
    return installed / "lib/systemd/system/waybill.service"


def test_tool_and_unit_are_below_the_prefix(installed, unit):
    assert os.access(installed / "bin/waybill", os.X_OK), "the tool is there"
    starts = f"ExecStart={PREFIX}/bin/waybill serve"
    assert any(line.startswith(starts) for line in unit.read_text().splitlines()), "the unit starts what was installed"
    assert unit.stat().st_mode & 0o777 == 0o644, "the unit's mode"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd-analyze here")
def test_systemd_finds_nothing_wrong_with_the_unit_and_something_with_a_wrong_one(installed, unit, tmp_path):
    def complaints(text):
        file = tmp_path / "waybill.service"
        file.write_text(text)
        # It has opinions about the machine's own units, too, which are not asked.
        done = subprocess.run(
            ["systemd-analyze", "verify", "--recursive-errors=no", "--man=no", file], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    right = unit.read_text().replace(PREFIX, str(installed))  # it looks for the program at its place
    assert complaints(right) == (0, "")
    assert "Usr" in complaints(right.replace("\nUser=", "\nUsr="))[1], "it tells what is wrong"


HARDENING = {
    "UMask": "0077", "SystemCallArchitectures": "native", "ProtectProc": "invisible", "RestrictSUIDSGID": "yes",
    "NoNewPrivileges": "yes", "ProtectSystem": "strict", "StateDirectoryMode": "0700"}


@pytest.mark.parametrize("setting", HARDENING)
def test_the_unit_keeps_the_collector_to_itself(setting, unit):
    values = [line.partition("=")[2] for line in unit.read_text().splitlines() if line.startswith(setting + "=")]
    assert values == [HARDENING[setting]]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd-analyze here")
def test_systemd_finds_the_unit_little_exposed(unit, tmp_path):
    def exposure(text, tenths):
        file = tmp_path / "waybill.service"
        file.write_text(text)
        return subprocess.run(
            ["systemd-analyze", "security", "--offline=yes", f"--threshold={tenths}", "--no-pager", file],
            capture_output=True, text=True)

    done = exposure(unit.read_text(), 23)
    assert done.returncode == 0, done.stdout + done.stderr
    lax = "".join(line for line in unit.read_text().splitlines(True) if not line.startswith(tuple(HARDENING)))
    assert exposure(lax, 23).returncode != 0, "it tells what is exposed"


def test_it_serves_is_backed_up_while_it_does_and_ends(installed, tmp_path):
    tool, store, copy = installed / "bin/waybill", tmp_path / "collected", tmp_path / "copy"
    token = execute(tool, "token", "add", store, "--role", "read").stdout.strip()
    with Service(tool, "serve", store, env=os.environ | {"WAYBILL_PORT": "0"}) as collector:
        assert get(collector, "/v1/ready")[0] == 200
        status, metrics = get(collector, "/metrics", token)
        assert status == 200 and "waybill_facts_total" in metrics
        execute(tool, "backup", store, copy)
        assert (copy / "waybill.sqlite").exists() and (copy / "tokens").exists(), "the backup is whole"
        assert collector.end() == 0


def get(service, path, token=None):
    connection = http.client.HTTPConnection(service.address, timeout=TIMEOUT)
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
    response = connection.getresponse()
    return response.status, response.read().decode()
