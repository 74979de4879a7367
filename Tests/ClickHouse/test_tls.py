"""A store behind TLS, which nginx ends with a certificate of an authority of its own: used as it should be, and by those who should not be let in."""

import os
import shutil
import signal
import socket
import subprocess

import pytest
from engines import ROOT, Engine, Skipped

WAYBILL = ROOT / ".build/debug/waybill-cli"
SET = ROOT / "Schemas/examples/valid/login-from-client.json"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
USER = ("waybill", "a b'c")


def openssl(*arguments):
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    subprocess.run(["openssl", "req", "-x509", *key, *map(str, arguments)], check=True, capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """A folder with `authority.pem`, and the certificate of `localhost`, and of no address, that it has signed."""
    folder = tmp_path_factory.mktemp("authority")
    openssl("-subj", "/CN=Authority of a test", "-keyout", folder / "authority.key", "-out", folder / "authority.pem")
    openssl(
        *("-CA", folder / "authority.pem", "-CAkey", folder / "authority.key", "-subj", "/CN=localhost"),
        *("-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"),
        *("-keyout", folder / "server.key", "-out", folder / "server.pem"),
    )
    return folder


@pytest.fixture(scope="module")
def port(authority):
    """Of nginx, before one ClickHouse."""
    if not NGINX:
        pytest.skip("nginx is not installed")
    try:
        engine = Engine("one", "--user", ":".join(USER))
    except Skipped as reason:
        pytest.skip(str(reason))
    # It is given the socket, as in an upgrade of itself: so nobody can take the port in between.
    with engine, socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        paths = " ".join(
            f"{kind}_temp_path {authority}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (authority / "nginx.conf").write_text(
            f"""daemon off; worker_processes 1; {"user root;" if os.getuid() == 0 else ""} pid {authority}/pid;
            events {{}}
            http {{
                access_log off; {paths} client_max_body_size 0;
                server {{
                    listen 127.0.0.1:{port} ssl;
                    ssl_certificate {authority}/server.pem; ssl_certificate_key {authority}/server.key;
                    location / {{ proxy_pass http://127.0.0.1:{engine.ports[0]}; }}
                }}
            }}"""
        )
        process = subprocess.Popen(
            [NGINX, "-p", authority, "-c", authority / "nginx.conf", "-e", authority / "error.log"],
            env={"NGINX": f"{listening.fileno()};"},
            pass_fds=[listening.fileno()],
            stdin=subprocess.DEVNULL,
        )
        try:
            yield port
        finally:
            process.send_signal(signal.SIGTERM)  # SIGKILL would leave its worker behind
            process.wait(30)


def waybill(*arguments, trusting=None, password=USER[1]):
    environment = {
        **os.environ,
        "WAYBILL_CLICKHOUSE_USER": USER[0],
        "WAYBILL_CLICKHOUSE_PASSWORD": password,
    }
    environment.pop("SSL_CERT_FILE", None)
    if trusting:
        environment["SSL_CERT_FILE"] = str(trusting / "authority.pem")
    return subprocess.run(
        [WAYBILL, *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=120
    )


def refused(run):
    assert run.returncode not in (0, None) and run.returncode > 0, run
    return run.stderr


def test_a_store_behind_tls_is_used_by_who_trusts_its_authority(port, authority):
    """Breaks when `secure=true` speaks no TLS, or when the authority of an operator's own cannot be named."""
    place = f"clickhouse://localhost:{port}/store?secure=true"
    for words in (["migrate", place], ["import", SET, "--to", place], ["verify", place]):
        run = waybill(*words, trusting=authority)
        assert run.returncode == 0, run
    listed = waybill("list", place, trusting=authority)
    assert listed.returncode == 0 and "login" in listed.stdout.lower(), listed


def test_nobody_else_is_trusted(port, authority):
    """Breaks when somebody between a collector and its database is told user and password."""
    secure = f"clickhouse://localhost:{port}/other?secure=true"
    assert "CERTIFICATE_VERIFY_FAILED" in refused(waybill("migrate", secure))  # the system does not know the authority
    # The certificate is of another name.
    assert "can be reached" in refused(waybill("migrate", secure.replace("localhost", "127.0.0.1"), trusting=authority))
    # No TLS to a server that wants it, and the password goes in no clear text to one that answers.
    refused(waybill("migrate", secure.removesuffix("?secure=true"), trusting=authority))
    assert "user and password" in refused(waybill("migrate", secure, trusting=authority, password="wrong"))
    # The same address is good: what was refused was refused for the reason given.
    assert waybill("migrate", secure, trusting=authority).returncode == 0
