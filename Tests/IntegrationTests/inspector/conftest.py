"""A collector with a month of logins, purchases, hostile texts and one large transaction; each module has a copy."""
import json
import shutil
from types import SimpleNamespace

import pytest
import sets
from waybill import Collector

SECOND = 1_000_000


def fill(folder):
    with Collector(folder / "store", roles=["ingest", "read"]) as server:
        now = sets.now()
        large, body = sets.large(now - 600 * SECOND)
        server.post(body, *sets.hostile(now - 400 * SECOND), *sets.month(now))
        app, back = sets.Recorder(sets.APP, now - 300 * SECOND), sets.Recorder(sets.SERVER, now - 300 * SECOND)
        logins = [sets.login(app, back, 2 * SECOND * index, index % 4 != 2) for index in range(60)]
        purchase = sets.purchase(app, 150 * SECOND)
        logins.append(sets.login(app, back, 180 * SECOND, False))
        server.post(app.set(), back.set())
        order = next(fact["sequence"] for fact in app.facts if fact.get("path") == "/orders")
        (folder / "recorded.json").write_text(json.dumps({
            "tokens": server.tokens, "now": now, "large": large, "purchase": purchase, "login": logins[-1],
            "source": app.id, "request": f"/network/{app.id}:{order}"}))


@pytest.fixture(scope="session")
def template(once):
    return once("inspector", fill)


@pytest.fixture(scope="session")
def recorded(template):
    """IDs of what is in the store."""
    return SimpleNamespace(**json.loads((template / "recorded.json").read_text()))


@pytest.fixture(scope="module")
def copied(template, tmp_path_factory):
    """A store that this module may add to."""
    return shutil.copytree(template / "store", tmp_path_factory.mktemp("inspector") / "store")


@pytest.fixture(scope="module")
def inspector(copied, recorded, serve):
    server = serve(copied)
    server.store, server.tokens = copied, recorded.tokens
    return server


@pytest.fixture(scope="session")
def places(recorded):
    """Every page, by name."""
    case = "/use-cases/login"
    return {
        "transactions": "/transactions", "transaction": f"/transactions/{recorded.login}",
        "purchase": f"/transactions/{recorded.purchase}", "sessions": "/sessions?filter=attribute:variant%3DA",
        "network": "/network", "exchange": recorded.request,
        "endpoints": "/endpoints?sort=p99",
        "endpoint": "/endpoint?role=client&method=POST&host=api.example.com&path=%2Flogin",
        "use-cases": "/use-cases", "use-case": case, "duration": f"{case}/duration", "funnel": f"{case}/funnel",
        "dropoff": f"{case}/dropoff", "legs": f"{case}/legs", "compare": f"{case}/compare?by=variant&a=A&b=B",
        "why": f"{case}/why",
        "errors": "/errors", "sources": "/sources", "source": f"/sources/{recorded.source}", "delivery": "/delivery",
        "comparison": f"/beside?a={recorded.login}&b=before",
    }
