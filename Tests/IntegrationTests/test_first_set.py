"""The shell snippet at the beginning of Schemas/README.md, run against a collector."""
import json
import re

from waybill import ROOT, execute

README = ROOT / "Schemas/README.md"
BY_HAND = ROOT / "Schemas/examples/valid/by-hand.json"


def snippet():
    """The first shell snippet of the README."""
    return re.search(r"^```sh\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL).group(1)


def answers(collector):
    """The JSON documents that the snippet prints: a receipt and a transaction."""
    text = execute("sh", "-eu", "-c", snippet(), COLLECTOR=collector.url, TOKEN=collector.tokens["admin"]).stdout
    documents = []
    while text := text.lstrip():
        document, end = json.JSONDecoder().raw_decode(text)
        documents.append(document)
        text = text[end:]
    return documents


def test_the_snippet_is_short_and_sends_the_published_example():
    assert len(snippet().splitlines()) <= 20
    assert BY_HAND.read_text().strip() in snippet()


def test_a_first_set_is_accepted_and_read_back(serve, tmp_path):
    receipt, transaction = answers(serve(tmp_path / "store", roles=["admin"]))
    assert (receipt["accepted"], receipt["known"], receipt.get("rejected", [])) == (3, 0, [])
    summary = transaction["summary"]
    assert (summary["use_case"], summary["use_case_name"], summary["outcome"]) == (17, "login", "succeeded")
    assert (summary["begun_us"], summary["duration_us"]) == (1_795_633_079_432_000, 80_000)
    timeline = transaction["timeline"]
    assert [entry["kind"] for entry in timeline] == ["begun", "event", "finished"]
    assert (timeline[1]["label"], timeline[1]["code"]) == ("requestSent", 2_063_774_115)


def test_the_same_set_again_is_known(serve, tmp_path):
    collector = serve(tmp_path / "store", roles=["admin"])
    first, second = answers(collector), answers(collector)
    assert (second[0]["accepted"], second[0]["known"]) == (0, 3)
    assert first[1] == second[1]
