"""Attacks on what a collector has only so much of: the room for bodies, its connections, the time of an answer. Whoever
takes more than a share loses it first, and an innocent client beside it is served all the while."""
import gzip
import json
import os
import socket
import subprocess
import time
from pathlib import Path

import attacks
import pytest
from sets import APP, Recorder, guid
from waybill import MEDIA_TYPE, TIMEOUT, WAYBILL, execute

STALLED_SECONDS, WRITE_SECONDS, SLOTS = 2, 3, 4


@pytest.fixture(scope="module")
def collector(serve, tmp_path_factory):
    return serve(
        tmp_path_factory.mktemp("room"), "--stalled-seconds", str(STALLED_SECONDS), "--write-seconds",
        str(WRITE_SECONDS), "--max-connections", "64", "--max-pending-bytes", str(48 << 20), roles=["ingest", "read"])


@pytest.fixture
def narrow(serve, tmp_path):
    """A collector of few connections."""
    return serve(tmp_path / "narrow", "--max-connections", str(SLOTS), roles=["ingest", "read"])


def connect(collector, receive=None):
    host, port = collector.address.split(":")
    connection = socket.socket()
    if receive:  # small, so that the collector's answer waits on its side
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    connection.settimeout(TIMEOUT)
    connection.connect((host, int(port)))
    return connection


def head(collector, method, path, *fields, role=None):
    if role:
        fields = (f"Authorization: Bearer {collector.tokens[role]}", *fields)
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *fields, "", ""]).encode()


def status(connection):
    """The status of what comes; 0 where the connection was closed without an answer."""
    try:
        data = connection.recv(65536)
    except ConnectionResetError:
        return 0
    return int(data.split()[1]) if data else 0


def all_of(connection):
    """What comes until the connection is closed."""
    data = b""
    try:
        while piece := connection.recv(65536):
            data += piece
    except ConnectionResetError:
        pass
    return data


def post_head(collector, length, *fields, role="ingest"):
    return head(
        collector, "POST", "/v1/sets", f"Content-Type: {MEDIA_TYPE}", f"Content-Length: {length}", *fields, role=role)


@pytest.mark.parametrize("project", ["waybill", "another"])
def test_stalled_gzip_bodies_of_one_token_leave_room_for_all_others(project, collector, attack):
    """49 KB that stand for 48 MB: were their bytes unpacked before the last of them came, they would take all of it."""
    bomb = gzip.compress(b" " * (12 << 20), 9)
    whose = "of the same project" if project == "waybill" else "of another project"
    with attack(collector, f"stalled gzip bodies, beside a client {whose}", project=project) as tried:
        stalled = []
        for _ in range(8):
            stalled.append(connection := connect(collector))
            connection.sendall(post_head(collector, len(bomb) + 1, "Content-Encoding: gzip") + bomb)
            tried.count += 1
        begun = time.monotonic()
        statuses = [status(connection) for connection in stalled]
        for connection in stalled:
            connection.close()
        assert set(statuses) == {408}, "each was ended for its slowness, and not for want of room"
        tried.held = f"each of {len(bomb)} bytes was ended with 408 within {time.monotonic() - begun:.0f} s"


def test_a_token_that_fills_the_room_with_real_bytes_gets_its_share_alone(collector, attack):
    with attack(collector, "bodies of 7 MiB that do not end, by one token") as tried:
        length, connections, seen = 7 << 20, [], []
        for _ in range(10):
            connections.append(connection := connect(collector))
            try:
                connection.sendall(post_head(collector, length) + b" " * (length - 1))
            except (BrokenPipeError, ConnectionResetError):
                pass  # it was refused while it was sent
            tried.count += 1
        for connection in connections:
            seen.append(status(connection))
            connection.close()
        assert set(seen) <= {503, 408, 0} and 503 in seen, seen
        tried.held = f"{seen.count(503)} of them got 503 beyond the token's share, the others 408"


def test_a_body_that_trickles_is_ended_with_408(collector, attack):
    with attack(collector, "bodies that trickle") as tried:
        connections = [connect(collector) for _ in range(16)]
        for connection in connections:
            connection.sendall(post_head(collector, 100_000) + b"{")
        begun, waiting = time.monotonic(), list(connections)
        for _ in range(600):  # a byte in a tenth of a second: never idle, and never done
            for connection in list(waiting):
                connection.setblocking(False)
                try:
                    connection.send(b" ")
                    tried.count += 1
                    if connection.recv(1, socket.MSG_PEEK) is not None:
                        waiting.remove(connection)
                except BlockingIOError:
                    continue
                except OSError:
                    waiting.remove(connection)
            if not waiting:
                break
            time.sleep(0.1)
        seconds = time.monotonic() - begun
        assert not waiting and seconds < TIMEOUT / 2, "long before the time that a body may take"
        for connection in connections:
            connection.setblocking(True)
            assert status(connection) in (408, 0)
            connection.close()
        tried.held = f"each was ended within {seconds:.0f} s, and not after the 60 s that a body may take"


def poll(connections, collector):
    """Asks for health on each; a connection that was closed is made again."""
    closed = 0
    for index, connection in enumerate(connections):
        try:
            connection.sendall(head(collector, "GET", "/v1/health"))
            connection.settimeout(0.2)  # it may wait for its turn
            if not connection.recv(4096):
                raise ConnectionResetError
        except TimeoutError:
            continue
        except OSError:
            closed += 1
            connection.close()
            connections[index] = connect(collector)
    return closed


def hold(tried):
    """Yields for two seconds, and until an innocent client was served three times more. One that is kept out gives up, which
    fails the test."""
    begun, goal = time.monotonic(), tried.innocent.served + 3
    for _ in range(attacks.GIVEN_UP_SECONDS * 1000):
        passed = time.monotonic() - begun
        if passed > 2 and tried.innocent.served >= goal or passed > attacks.GIVEN_UP_SECONDS + 5:
            return
        yield


def test_those_without_a_token_do_not_hold_all_connections(narrow, attack):
    with attack(narrow, "health kept alive by as many as there are slots", seconds=attacks.GIVEN_UP_SECONDS) as tried:
        connections, closed = [connect(narrow) for _ in range(SLOTS)], 0
        for _ in hold(tried):
            closed += poll(connections, narrow)
            tried.count += SLOTS
            time.sleep(0.01)
        for connection in connections:
            connection.close()
        tried.held = f"{closed} connections without a token were closed for those who came"


@pytest.mark.parametrize("what", ["nothing", "half of a head", "a body that is not read", "a login that does not end"])
def test_those_who_do_not_finish_their_request_do_not_hold_all_connections(what, narrow, attack):
    start = {
        "nothing": b"",
        "half of a head": b"GET /v1/health HTTP/1.1\r\nHost: 127",
        "a body that is not read": post_head(narrow, 1000, role=None),
        "a login that does not end": head(narrow, "POST", "/login", "Content-Length: 1000") + b"token=",
    }[what]
    with attack(narrow, f"all slots taken with {what}", seconds=attacks.GIVEN_UP_SECONDS) as tried:
        connections = [start_over(narrow, start) for _ in range(3 * SLOTS)]
        for _ in hold(tried):
            for index, connection in enumerate(connections):
                if is_closed(connection):
                    connection.close()
                    connections[index] = start_over(narrow, start)
                    tried.count += 1
            time.sleep(0.05)
        tried.count += len(connections)
        for connection in connections:
            connection.close()
        tried.held = "those that waited longest were closed for those who came"


def start_over(collector, start):
    connection = connect(collector)
    try:
        connection.sendall(start)
    except OSError:
        pass  # closed already
    return connection


def is_closed(connection):
    connection.setblocking(False)
    try:
        for _ in range(100):
            if not connection.recv(4096):
                return True
    except BlockingIOError:
        return False
    except OSError:
        return True
    return False


def test_idle_connections_of_a_known_token_do_not_hold_all_connections(narrow, attack):
    with attack(narrow, "all slots kept alive with an ingest token", seconds=attacks.GIVEN_UP_SECONDS) as tried:
        recorder = Recorder(APP, 1_772_366_400_000_000)
        recorder.open(0, guid(), 0)
        body, connections = json.dumps(recorder.set()).encode(), []
        for _ in range(2 * SLOTS):
            connections.append(connection := connect(narrow))
            connection.sendall(post_head(narrow, len(body)) + body)
            assert status(connection) == 200
            tried.count += 1
        for _ in hold(tried):
            time.sleep(0.05)
        for connection in connections:
            connection.close()
        tried.held = "those that rested longest were closed for those who came"


def test_one_token_does_not_hold_all_connections(narrow, attack):
    """Each comes fast enough for as long as it is looked at, and is not given up, since its token is one of ours."""
    start = post_head(narrow, 1_000_000) + b" " * 5_000
    with attack(narrow, "all slots taken with bodies under way, by one ingest token", seconds=attacks.GIVEN_UP_SECONDS) as tried:
        connections, refused = [start_over(narrow, start) for _ in range(3 * SLOTS)], 0
        for _ in hold(tried):
            for index, connection in enumerate(connections):
                if answer := answered(connection):
                    refused += answer.startswith(b"HTTP/1.1 503")
                    connection.close()
                    connections[index] = start_over(narrow, start)
                    tried.count += 1
                else:
                    go_on(connection, b" " * 500)
            time.sleep(0.05)
        tried.count += len(connections)
        for connection in connections:
            connection.close()
        assert refused, "what is beyond the token's share is told so"
        tried.held = f"{refused} of them got 503, beyond half of the slots"


def answered(connection):
    """What has come on a connection, b"closed" where that is its end, and nothing while it waits."""
    connection.setblocking(False)
    try:
        return connection.recv(65536) or b"closed"
    except BlockingIOError:
        return b""
    except OSError:
        return b"closed"


def go_on(connection, piece):
    """Sends as much of it as there is room for."""
    try:
        connection.send(piece)
    except OSError:
        pass  # no room, or closed: the next look tells


def sockets(collector):
    """How many the process has open."""
    count = 0
    for file in Path(f"/proc/{collector.process.pid}/fd").iterdir():
        try:
            count += os.readlink(file).startswith("socket:")
        except FileNotFoundError:
            pass  # closed meanwhile
    return count


def test_an_answer_that_nobody_reads_is_ended(collector, attack):
    facts = 4_000
    for _ in range(5):
        recorder = Recorder(APP, 1_772_366_400_000_000)
        recorder.open(0, guid(), 0)
        for number in range(facts):
            recorder.add(number + 1, "event", event=0, attributes={"text": "x" * 500})
        collector.post(recorder.set())
    before = sockets(collector)
    with attack(collector, "exports that nobody reads") as tried:
        connections = []
        for _ in range(4):
            connections.append(connection := connect(collector, receive=4096))
            connection.sendall(head(collector, "GET", "/v1/export?format=ndjson", role="read"))
            tried.count += 1
        begun, most = time.monotonic(), before
        for _ in range(600):  # the attack is that nothing is read
            count = sockets(collector)
            most = max(most, count)
            if most >= before + len(connections) and count <= before + 1:  # the innocent client may have one
                break
            time.sleep(0.1)
        seconds = time.monotonic() - begun
        for connection in connections:
            connection.close()
        assert most >= before + len(connections), "they were open"
        assert count <= before + 1 and seconds < TIMEOUT, f"they were waited for: {count} sockets are open"
        tried.held = f"{facts * 5} facts each, and all were ended after {seconds:.0f} s"


@pytest.mark.parametrize("path", ["/v1/transactions", "/v1/export", "/v1/health", "/metrics", "/live", "/terms"])
def test_what_the_page_of_another_site_asks_for_is_refused(path, serve, tmp_path, attack):
    """A page anywhere may have a browser send requests to this machine, where a collector may ask for no token."""
    open_to_all = serve(tmp_path / "open", "--insecure")
    with attack(open_to_all, f"{path} asked for by the page of another site") as tried:
        for mode in ["no-cors", "cors", "same-origin", "navigate"]:
            with connect(open_to_all) as connection:
                connection.sendall(head(
                    open_to_all, "GET", path, "Sec-Fetch-Site: cross-site", f"Sec-Fetch-Mode: {mode}",
                    "Connection: close"))
                tried.count += 1
                assert status(connection) == 403, mode
        tried.held = "refused with 403, whatever its mode"


def test_a_token_that_has_ended_opens_nothing(collector, attack):
    ended = execute(
        WAYBILL, "token", "add", collector.place, "--role", "read", "--expires", "2020-01-01").stdout.strip()
    collector.tokens["ended"] = ended
    with attack(collector, "a token that has ended") as tried:
        for path in ["/v1/transactions", "/v1/sources", "/v1/export", "/metrics"]:
            with connect(collector) as connection:
                connection.sendall(head(collector, "GET", path, "Connection: close", role="ended"))
                answer = all_of(connection)
                assert answer.split()[1] == b"401" and b"ended on 2020-01-01" in answer
                tried.count += 1
        tried.held = "401 with one sentence"


@pytest.fixture
def small_disk(tmp_path):
    """A folder with room for a few megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "waybill", folder], capture_output=True).returncode:
        pytest.skip("a tmpfs cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def test_a_collector_whose_disk_is_full_is_not_ready(small_disk, serve):
    """A proxy goes by it: every set gets 503, so that another collector had better be asked."""
    full = serve(small_disk / "collected", roles=["ingest"])

    def ready():
        time.sleep(1.1)  # it looks once in a second at most
        with connect(full) as connection:
            connection.sendall(head(full, "GET", "/v1/ready", "Connection: close"))
            return status(connection)

    recorder = Recorder(APP, 1_772_366_400_000_000)
    recorder.open(0, guid(), 0)
    full.post(recorder.set())
    assert ready() == 200
    filler = small_disk / "filler"
    with open(filler, "wb", buffering=0) as file:
        try:
            while file.write(b"x" * 65_536) == 65_536:
                pass
        except OSError:
            pass
    assert ready() == 503
    filler.unlink()
    assert ready() == 200
