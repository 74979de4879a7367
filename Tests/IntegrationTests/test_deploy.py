"""Whether the files of Examples/Deploy/cluster fit together. No container is run: they are read, the proxy's by nginx."""
import re
import shutil
import xml.etree.ElementTree as xml

import pytest
import yaml
from waybill import ROOT, execute

FOLDER = ROOT / "Examples/Deploy/cluster"


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((FOLDER / "compose.yaml").read_text())


@pytest.fixture(scope="module")
def server():
    return xml.parse(FOLDER / "server.xml").getroot()


def named(compose, prefix):
    return {name for name in compose["services"] if name.startswith(prefix)}


def test_the_cluster_is_of_the_servers_that_there_are(compose, server):
    """A server that the cluster names and nobody starts would be a replica that is for ever dead."""
    assert {host.text for host in server.iter("host")} - {"keeper"} == named(compose, "server-")
    for number, shard in enumerate(server.findall("remote_servers/*/shard"), 1):
        for host in shard.iter("host"):
            about = compose["services"][host.text]["environment"]
            assert about["SHARD"] == f"{number:02}", f"{host.text} says that it is of another shard"


def test_no_two_servers_are_the_same_replica(compose):
    places = [(service["environment"]["SHARD"], service["environment"]["REPLICA"])
              for name, service in compose["services"].items() if name.startswith("server-")]
    assert len(set(places)) == len(places)


def test_the_keeper_listens_where_servers_look_for_it(compose, server):
    keeper = xml.parse(FOLDER / "keeper.xml").getroot()
    assert server.findtext("zookeeper/node/host") in compose["services"]
    assert server.findtext("zookeeper/node/port") == keeper.findtext("keeper_server/tcp_port")


def test_each_collector_knows_every_server_and_the_cluster(compose, server):
    name = next(element.tag for element in server.find("remote_servers"))
    for service in named(compose, "collector-") | {"migrate"}:
        address = next(word for word in compose["services"][service]["command"] if word.startswith("clickhouse://"))
        assert set(re.findall(r"server-\d-\d", address)) == named(compose, "server-"), service
        assert address.endswith(f"&cluster={name}"), service


def test_every_variable_that_is_needed_is_in_the_example(compose):
    """Else `docker compose` stops at the first one that was forgotten."""
    needed = set(re.findall(r"\$\{(\w+)", (FOLDER / "compose.yaml").read_text()))
    assert needed == set(re.findall(r"^(\w+)=", (FOLDER / "settings.example").read_text(), re.MULTILINE))
    asked = {element.get("from_env") for element in xml.parse(FOLDER / "server.xml").iter()} - {None}
    assert asked <= set(compose["services"]["server-1-1"]["environment"])


def test_what_is_mounted_is_there(compose):
    for service in compose["services"].values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith("./"):
                assert (FOLDER / source).is_file(), source
            elif not source.startswith("$"):
                assert source in compose["volumes"], source


def test_nginx_takes_the_configuration_of_the_proxy(tmp_path, compose):
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
    if not nginx:
        pytest.skip("nginx is not installed")
    text = (FOLDER / "proxy.conf").read_text()
    assert set(re.findall(r"collector-\d", text)) == named(compose, "collector-")
    execute("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=waybill", "-days", "2",
            "-keyout", tmp_path / "key.pem", "-out", tmp_path / "chain.pem")
    text = re.sub(r"collector-(\d)", r"127.0.0.\1", text).replace("/tls/", f"{tmp_path}/")
    (tmp_path / "proxy.conf").write_text(text)
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ access_log off; include {tmp_path}/proxy.conf; }}")
    execute(nginx, "-t", "-p", tmp_path, "-c", tmp_path / "nginx.conf")
