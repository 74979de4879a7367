"""A ClickHouse cluster of Debian's packages: shards of replicas, and a ZooKeeper, all on 127.0.0.1.

Prints one line of JSON once all of it answers: {"cluster", "version", "zookeeper": {port, pid}, "folder",
"nodes": [{name, shard, replica, http, tcp, pid}]}; a node's name is SHARD.REPLICA, from 1.

Then each line on standard input is a command, answered by one line of JSON, {"command", "pid"} or {"command", "error"}:
    kill NODE    SIGKILL, as the loss of a machine that comes back with its disk
    stop NODE    SIGSTOP, as a machine that hangs; `cont NODE` goes on
    start NODE   starts what was killed, and answers once the node does; its ports stay
NODE may be `zookeeper`. Everything ends once standard input does, or with SIGTERM, or when this process is gone.
"""

import argparse
import ctypes
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

PATIENCE = 90  # seconds until what does not answer counts as not started
CONFIG = """<yandex>
  <logger>
    <level>{level}</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog><size>100M</size><count>2</count>
  </logger>
  <listen_host>127.0.0.1</listen_host><http_port>{http}</http_port><tcp_port>{tcp}</tcp_port>
  <interserver_http_host>127.0.0.1</interserver_http_host><interserver_http_port>{interserver}</interserver_http_port>
  <max_concurrent_queries>200</max_concurrent_queries><keep_alive_timeout>10</keep_alive_timeout>
  <mark_cache_size>268435456</mark_cache_size><uncompressed_cache_size>0</uncompressed_cache_size>
  <path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path><user_files_path>{folder}/files/</user_files_path>
  <users_config>users.xml</users_config>
  <default_profile>default</default_profile><default_database>default</default_database>
  <timezone>UTC</timezone>
  <remote_servers><waybill>{shards}</waybill></remote_servers>
  <zookeeper>
    <node><host>127.0.0.1</host><port>{zookeeper}</port></node><session_timeout_ms>5000</session_timeout_ms>
  </zookeeper>
  <macros><cluster>waybill</cluster><shard>{shard}</shard><replica>{replica}</replica></macros>
  <distributed_ddl><path>/clickhouse/task_queue/ddl</path></distributed_ddl>
</yandex>
"""
USERS = """<yandex>
  <profiles><default><max_memory_usage>2000000000</max_memory_usage></default></profiles>
  <quotas><default></default></quotas>
  <users>{users}</users>
</yandex>
"""
USER = """<{name}><password>{password}</password><networks><ip>127.0.0.1</ip></networks>
    <profile>default</profile><quota>default</quota></{name}>"""
ZOOKEEPER = """tickTime=1000
dataDir={folder}/data
clientPort={port}
clientPortAddress=127.0.0.1
admin.enableServer=false
4lw.commands.whitelist=srvr
"""


def free_ports(count):
    """Below those of outgoing connections, since a node that was down must find its own free again."""
    held, ports = [], []
    for port in random.sample(range(15000, 32000), 2000):
        if len(ports) == count:
            break
        one = socket.socket()
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            one.close()
            continue
        held.append(one)
        ports.append(port)
    for one in held:
        one.close()
    assert len(ports) == count, "no free ports"
    return ports


def dies_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: nothing stays when a test is killed


class Node:
    """One process, started again with the same ports and disk."""

    def __init__(self, name, folder, command, is_up, **about):
        self.name, self.folder, self.command, self.is_up, self.about = name, folder, command, is_up, about
        self.process = None

    def launch(self):
        with open(self.folder / "output", "ab") as output:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self.folder,
                preexec_fn=dies_with_parent,
            )

    def await_up(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.name} ended with {self.process.returncode}: {self.last_words()}")
            try:
                if self.is_up():
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise RuntimeError(f"{self.name} has not answered for {PATIENCE} s: {self.last_words()}")

    def last_words(self):
        return "".join(
            path.read_text(errors="replace")[-600:]
            for path in (self.folder / "errors", self.folder / "output")
            if path.exists()
        )

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def do(self, word):
        running = self.process.poll() is None
        if word == "kill" and running:
            self.kill()
        elif word == "stop" and running:
            self.process.send_signal(signal.SIGSTOP)
            # Until all of its threads have stopped: one may answer meanwhile.
            os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        elif word == "cont" and running:
            self.process.send_signal(signal.SIGCONT)
        elif word == "start" and not running:
            self.launch()
            self.await_up()
        else:
            raise RuntimeError(f"cannot {word} what is {'running' if running else 'not running'}")

    def description(self):
        return {"name": self.name, **self.about, "pid": self.process.pid}


def zookeeper(folder, port):
    folder.mkdir()
    (folder / "zoo.cfg").write_text(ZOOKEEPER.format(folder=folder, port=port))

    def is_up():
        with socket.create_connection(("127.0.0.1", port), 2) as one:
            one.sendall(b"srvr")
            return one.recv(9) == b"Zookeeper"  # it accepts connections before it serves them, and says so

    # It is not what is tested: without forced writes, so that it costs a shared machine less.
    return Node(
        "zookeeper",
        folder,
        [
            "java",
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Dzookeeper.forceSync=no",
            "-cp",
            "/usr/share/java/zookeeper.jar",
            "org.apache.zookeeper.server.ZooKeeperServerMain",
            str(folder / "zoo.cfg"),
        ],
        is_up,
        port=port,
    )


def server(folder, arguments, shard, replica, ports, shards, keeper):
    folder.mkdir()
    http, tcp, interserver = ports
    (folder / "config.xml").write_text(
        CONFIG.format(
            level=arguments.log_level,
            folder=folder,
            http=http,
            tcp=tcp,
            interserver=interserver,
            shards=shards,
            zookeeper=keeper,
            shard=f"{shard:02}",
            replica=f"{shard:02}-{replica:02}",
        )
    )
    users = {"default": "", **dict(user.split(":", 1) for user in arguments.user)}
    (folder / "users.xml").write_text(
        USERS.format(users="".join(USER.format(name=name, password=word) for name, word in users.items()))
    )

    def is_up():  # it answers before it has found its ZooKeeper, and refuses replicated tables until then
        # Before it has made the queue of statements ON CLUSTER, such a statement ends the whole server (18.16).
        query = "SELECT%20any(version())%20FROM%20system.zookeeper%20WHERE%20path='/clickhouse/task_queue'%20AND%20name='ddl'"
        with urllib.request.urlopen(f"http://127.0.0.1:{http}/?query={query}", timeout=5) as answer:
            return answer.read()

    path = shutil.which("clickhouse-server", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin")
    return Node(
        f"{shard}.{replica}",
        folder,
        [path, f"--config-file={folder}/config.xml"],
        is_up,
        shard=shard,
        replica=replica,
        http=http,
        tcp=tcp,
    )


def make(folder, arguments):
    places = [(shard + 1, replica + 1) for shard in range(arguments.shards) for replica in range(arguments.replicas)]
    keeper, *ports = free_ports(1 + 3 * len(places))
    ports = {place: ports[3 * index : 3 * index + 3] for index, place in enumerate(places)}
    shards = "".join(
        "<shard><internal_replication>true</internal_replication>"
        + "".join(
            f"<replica><host>127.0.0.1</host><port>{ports[place][1]}</port></replica>"
            for place in places
            if place[0] == shard + 1
        )
        + "</shard>"
        for shard in range(arguments.shards)
    )
    return [zookeeper(folder / "zookeeper", keeper)] + [
        server(folder / f"{shard}.{replica}", arguments, shard, replica, ports[shard, replica], shards, keeper)
        for shard, replica in places
    ]


def say(line):
    print(json.dumps(line), flush=True)


def obey(nodes):
    by_name = {node.name: node for node in nodes}
    for line in sys.stdin:
        command = line.strip()
        try:
            word, name = command.split()
            by_name[name].do(word)
            say({"command": command, "pid": by_name[name].process.pid})
        except (RuntimeError, KeyError, ValueError) as error:
            say({"command": command, "error": str(error)})


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--shards", type=int, default=2)
    arguments.add_argument("--replicas", type=int, default=2)
    arguments.add_argument(
        "--user", action="append", default=[], metavar="NAME:PASSWORD", help="beside `default`, who has no password"
    )
    arguments.add_argument("--log-level", default="warning")
    arguments.add_argument("--keep", action="store_true", help="leave the folder, with the logs, at the end")
    arguments = arguments.parse_args()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    folder = Path(tempfile.mkdtemp(prefix="clickhouse-cluster-"))
    nodes = []
    try:
        nodes = make(folder, arguments)
        # One after the other until the queue of statements ON CLUSTER is made: of two servers that make it at once, one
        # takes nothing from it ever after (18.16).
        for node in nodes[:2]:
            node.launch()
            node.await_up()
        for node in nodes[2:]:
            node.launch()
        for node in nodes[2:]:
            node.await_up()
        keeper, *servers = nodes
        say(
            {
                "cluster": "waybill",
                "version": servers[0].is_up().decode().strip(),
                "folder": str(folder),
                "zookeeper": keeper.description(),
                "nodes": [node.description() for node in servers],
            }
        )
        obey(nodes)
    finally:
        for node in nodes:
            node.kill()
        if not arguments.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
