"""`waybill mcp` with the Model Context Protocol's own client, and with lines that no client should send."""
import asyncio
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

import mcp
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client
from waybill import TIMEOUT, WAYBILL, waybill

BYTE_LIMIT = 20_000
NOTE = "untrusted data"
TOOLS = ["ask", "errors", "compare", "list", "show"]


@pytest.fixture(scope="module")
def store(sample_store):
    return sample_store / "sample.sqlite"


def talk(store, conversation, mode="auto"):
    """What `conversation(client)` returns, asked of a server that the client starts and ends."""
    async def run():
        server = StdioServerParameters(command=str(WAYBILL), args=["mcp", str(store)])
        async with mcp.Client(stdio_client(server), mode=mode) as client:
            return await asyncio.wait_for(conversation(client), TIMEOUT)

    # In a thread of its own, since a browser's loop may run in this one.
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(lambda: asyncio.run(run())).result()


def call(store, tool, **arguments):
    """The recorded text of an answer, which is marked and bounded."""
    async def one(client):
        return await client.call_tool(tool, arguments)

    return checked(talk(store, one))


def checked(result):
    note, recorded = (content.text for content in result.content)
    assert not result.is_error, recorded
    assert NOTE in note, "recorded text is marked as untrusted"
    assert len(note.encode()) + len(recorded.encode()) <= BYTE_LIMIT, "an answer is bounded"
    return recorded


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_of_either_era_finds_the_tools_and_none_of_them_writes(store, mode):
    async def tools(client):
        return client.protocol_version, (await client.list_tools()).tools

    version, tools = talk(store, tools, mode)
    assert version == {"auto": "2026-07-28", "legacy": "2025-11-25"}[mode]
    assert [tool.name for tool in tools] == TOOLS
    assert all(tool.annotations.read_only_hint and not tool.annotations.destructive_hint for tool in tools)


@pytest.mark.parametrize("words, tool, arguments", [
    (["ask", "summary"], "ask", {"question": "summary"}),
    (["ask", "funnel", "--steps", "^,$", "--by", "version"],
     "ask", {"question": "funnel", "options": {"steps": ["^", "$"], "by": "version"}}),
    (["ask", "errors", "--limit", "3"], "errors", {"limit": 3}),
    (["ask", "compare", "--by", "version", "--a", "2.0", "--b", "2.1"], "compare", {"by": "version", "a": "2.0", "b": "2.1"}),
    (["list", "--limit", "5", "--outcome", "failed"], "list", {"limit": 5, "outcome": "failed"}),
])
def test_a_tool_answers_with_the_json_of_the_command(store, words, tool, arguments):
    filter = ["useCase:checkout since:2020-01-01"]
    verb = words[:2] if words[0] == "ask" else words[:1]
    told = waybill(*verb, store, *filter, *words[len(verb):], "--json")
    answered = call(store, tool, use_case="checkout", filter="since:2020-01-01", **arguments)
    assert json.loads(answered) == json.loads(told)


def test_a_list_goes_on_at_its_cursor_until_each_transaction_was_seen_once(store):
    async def pages(client):
        ids, cursor = [], {}
        while True:
            page = json.loads(checked(await client.call_tool("list", {"outcome": "failed", "limit": 100, **cursor})))
            ids += [row["id"] for row in page["rows"]]
            if "next" not in page:
                return ids
            cursor = {"cursor": page["next"]}

    ids = talk(store, pages)
    assert len(ids) == len(set(ids)) > 100
    assert sorted(ids) == sorted(row["id"] for row in all_failed(store))


def all_failed(store):
    rows, cursor = [], []
    while True:
        page = json.loads(waybill("list", store, "--outcome", "failed", "--limit", "500", "--json", *cursor))
        rows += page["rows"]
        if "next" not in page:
            return rows
        cursor = ["--cursor", page["next"]]


def test_a_transaction_beyond_the_limit_is_read_in_parts_that_make_one_json(sample_store, store):
    large = (sample_store / "printed.txt").read_text().split()
    key = next(word.strip(".,") for word in large if word.count("-") == 4)

    async def parts(client):
        arguments, text = {"id": key}, ""
        while True:
            result = await client.call_tool("show", arguments)
            text += checked(result)
            note = result.content[0].text
            if "pass the cursor " not in note:
                return text
            arguments = {"id": key, "cursor": note.split("pass the cursor ")[1].rstrip(".")}

    text = talk(store, parts)
    assert len(text) > BYTE_LIMIT
    assert json.loads(text) == json.loads(waybill("show", store, key, "--json"))


@pytest.mark.parametrize("tool, arguments, word", [
    ("ask", {"question": "everything"}, "no question"),
    ("ask", {"question": "--help"}, "no question"),
    ("ask", {"question": "summary", "options": {"token-fil": "x"}}, "token-fil"),
    ("list", {"path": "/etc/passwd"}, "no argument"),
    ("list", {"filter": "took>>2s"}, "took"),
    ("list", {"limit": 100_000}, "1 to 500"),
    ("show", {"id": "K7QD-3M2X"}, "no transaction"),
    ("show", {"id": "x", "cursor": "part:99999999999999999999:-5"}, "cursor"),
    ("compare", {"by": "version", "a": "2.0"}, "“b”"),
])
def test_a_mistake_is_said_to_the_agent_in_one_sentence(store, tool, arguments, word):
    async def one(client):
        return await client.call_tool(tool, arguments)

    result = talk(store, one)
    assert result.is_error and word in result.content[1].text


def test_options_of_a_question_are_explained(store):
    async def one(client):
        return await client.call_tool("ask", {"question": "funnel", "options": {"help": True}})

    result = talk(store, one)
    assert not result.is_error and "--steps" in result.content[1].text


def raw(store, *lines):
    """The answers to lines, after which input ends; the server then ends with 0."""
    done = subprocess.run(
        [str(WAYBILL), "mcp", str(store)], input=b"".join(line + b"\n" for line in lines), capture_output=True,
        timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


PING = b'{"jsonrpc":"2.0","id":7,"method":"ping"}'


@pytest.mark.parametrize("line, code", [
    (b"x" * (3 << 20), -32600),
    (b"[" * 100_000, -32600),
    (b'{"a":' * 33 + b"1" + b"}" * 33, -32600),
    (b"{", -32700),
    (b"\xff\xfe\x00", -32700),
    (b"[" + PING + b"]", -32600),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"resources/list"}', -32601),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"erase"}}', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1"}}}', -32022),
])
def test_a_bad_line_gets_an_error_and_the_next_one_its_answer(store, line, code):
    bad, good = raw(store, line, PING)
    assert bad["error"]["code"] == code
    assert good["id"] == 7 and "result" in good


def test_input_that_cannot_be_read_is_an_error_and_no_crash(store):
    folder = os.open(store.parent, os.O_RDONLY)
    try:
        done = subprocess.run(
            [str(WAYBILL), "mcp", str(store)], stdin=folder, capture_output=True, timeout=TIMEOUT)
    finally:
        os.close(folder)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"Standard input cannot be read" in done.stderr


def test_notifications_get_no_answer(store):
    lines = [b'{"jsonrpc":"2.0","method":"notifications/initialized"}', b"", PING]
    assert [answer["id"] for answer in raw(store, *lines)] == [7]


def test_an_agent_finds_what_failed_checkouts_have_in_common(store):
    answer = json.loads(call(store, "ask", question="why", use_case="checkout", outcome="failed"))
    first = answer["differences"][0]
    assert first["trait"]["kind"] == "failed_request" and first["trait"]["value"].startswith("POST ")
    assert first["difference"]["low"] > 0.8
