"""A checkout that failed becomes two tests, of the app and of the server: they fail until the fault is fixed.

The app's record is in its own store, with bodies; the server's part is in the collector's.
"""
import json
import os
import re
import subprocess
import sys

import pytest
from waybill import PRODUCTS, ROOT, TIMEOUT, Collector, Service, execute, waybill

sys.path.append(str(ROOT / "Schemas"))
import validate  # noqa: E402

pytestmark = pytest.mark.timeout(4 * TIMEOUT)

GUIDE = (ROOT / "Sources/Waybill/Waybill.docc/Test.md").read_text()
DEPENDENCIES = ROOT / ".build/checkouts"
LIBRARY = {
    "CheckoutShop": ROOT / "Examples/Checkout/Shop",
    **{name: ROOT / "Sources" / name for name in [
        "WaybillAtomics", "WaybillCore", "WaybillStore", "Waybill", "WaybillQueries", "WaybillExport", "WaybillTesting",
        "WaybillHummingbird"]},
}
RUNNER = "import Testing\n@main struct Runner { static func main() async { await Testing.__swiftPMEntryPoint() as Never } }\n"
# What a developer writes: how the app starts the use case, and what answers the requests that were never recorded, since
# the checkout failed before them.
START = '''
    let model = await CheckoutModel(
        transactions: transactions,
        shop: ShopClient(server: URL(string: "http://127.0.0.1")!, session: transactions.session))
    transactions.rules.add([
        NetworkRule("no WebSockets", matching: RequestPattern(path: .glob("/orders/*/states")), .fail(.badServerResponse)),
        NetworkRule(
            "the order", matching: RequestPattern(path: .glob("/orders/*")),
            .mock(.text(#"{"number":7,"state":"reserved"}"#))),
    ])
    _ = await model.checkOut(Customer(visit: 0))
'''
FAULTS = {
    # Without its bank, the shop can collect the money later: no reason to lose the order.
    "CheckoutModel.swift": ("case 503: throw PaymentError.bankIsDown(attempts: attempt)", "case 503: return"),
    "Orders.swift": ("payment.order % 15 == 7 || payment.order % 6 == 0 && attempt < 3", "payment.order < 0"),
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A folder with the stores of the app and of the collector, and the support code of a checkout whose bank was down."""
    folder = tmp_path_factory.mktemp("recorded")
    with Collector(folder / "collected", "--insecure") as collector:
        environment = {"WAYBILL_COLLECTOR": collector.url, "XDG_STATE_HOME": str(folder / "state")}
        with Service(PRODUCTS / "CheckoutServer", env=os.environ | environment) as server:
            execute(PRODUCTS / "CheckoutApp", server.url, WAYBILL_STORE=str(folder / "phone"), **environment)
    [row] = json.loads(waybill("list", folder / "collected", "useCase:checkout error:bankIsDown", "--limit", "1", "--json"))["rows"]
    return folder, row["support_code"]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """`compiled(sources)` is the program of these Swift files and texts, with the library that was built."""
    folder = tmp_path_factory.mktemp("compiled")
    maps = [*ROOT.glob("Sources/*/module.modulemap"), *PRODUCTS.glob("*.build/module.modulemap"),
            *DEPENDENCIES.glob("*/Sources/*/include/module.modulemap")]
    includes = [path for path in DEPENDENCIES.glob("*/Sources/*/include")]
    flags = ["-swift-version", "6", "-parse-as-library", "-DHummingbird", "-I", folder, "-I", PRODUCTS / "Modules"]
    for word in [f"-fmodule-map-file={path}" for path in maps] + [f"-I{path}" for path in includes]:
        flags += ["-Xcc", word]

    # The folder of SystemPackage is called System.
    dependencies = [path.name for path in DEPENDENCIES.glob("*/Sources/*")] + ["SystemPackage"]
    objects = [path for name in dependencies for path in (PRODUCTS / f"{name}.build").rglob("*.o")]
    # As from an archive, the linker takes those that it needs.
    archive = [word for path in ["--start-lib", *objects, "--end-lib"] for word in ("-Xlinker", path)]
    testing = sorted((DEPENDENCIES / "hummingbird/Sources/HummingbirdTesting").glob("*.swift"))
    availability = "AvailabilityMacro=hummingbird 2.0:macOS 14.0, iOS 17.0"
    execute("swiftc", *flags, "-wmo", "-c", "-module-name", "HummingbirdTesting", "-package-name", "hummingbird", "-emit-module", "-emit-module-path",
            folder / "HummingbirdTesting.swiftmodule", "-enable-experimental-feature", availability, "-o",
            folder / "testing.o", *testing)
    # Objects of files that were deleted or moved stay where they are.
    library = [
        path for name, place in LIBRARY.items() for path in (PRODUCTS / f"{name}.build").rglob("*.o")
        if path.name == "embedded_resources.swift.o" or list(place.rglob(path.stem))]

    def compile(name, sources):
        place = folder / name
        place.mkdir()
        for file, text in sources.items():
            (place / file).write_text(text)
        execute("swiftc", *flags, "-wmo", "-module-name", "Reproduced", "-o", place / "tests", *place.glob("*.swift"),
                folder / "testing.o", *library, "-use-ld=lld", *archive, "-lstdc++")
        return place / "tests"

    return compile


def sources(tests, isFixed):
    """The app, the server and their tests as one module, which a developer has in two."""
    files = [*(ROOT / "Examples/Checkout/App").glob("*.swift"), *(ROOT / "Examples/Checkout/Server").glob("*.swift")]
    texts = {file.name: file.read_text() for file in files if file.name != "CheckoutApp.swift"}
    for name, (fault, remedy) in FAULTS.items():
        assert fault in texts[name]
        texts[name] = texts[name].replace(fault, remedy) if isFixed else texts[name]
    texts["CheckoutServer.swift"] = texts["CheckoutServer.swift"].replace("@main", "", 1).replace("private static", "static")
    app, server = sorted(tests, key=lambda file: len(file.name))
    texts[app.name] = app.read_text().replace('\n    Issue.record("Start the use case here.")\n', START)
    texts[server.name] = server.read_text().replace(
        "    return Application", "    CheckoutServer.addRoutes(to: router, Orders())\n    return Application")
    return texts | {"Runner.swift": RUNNER}


def shape(text):
    """Without what differs from run to run: codes and durations, and the module that has the errors."""
    text = re.sub(r"(?<=Checkout)[0-9A-Z]{8}(?=\w*Tests)|\b[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}\b", "CODE", text)
    return re.sub(r"[0-9.]+ (µs|ms|s)\b", "0 s", text)


def run(program):
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=TIMEOUT)
    return done.returncode, done.stdout + done.stderr


def test_the_tests_fail_as_the_checkout_did_until_the_fault_is_fixed(recorded, compiled):
    folder, code = recorded
    shown = re.findall(r"^```\n(?:\$ waybill reproduce|↳).*?^```$", GUIDE, re.MULTILINE | re.DOTALL)
    command, *files = shown[0].splitlines()[1:-1]
    words = [code if shape(word) == "CODE" else word for word in command.removeprefix("$ waybill ").split()]
    done = execute(PRODUCTS / "waybill-cli", *words, cwd=folder)
    assert shape(done.stdout) == shape("\n".join(files) + "\n") and done.stderr == "", "as the guide shows"
    tests = [folder / file for file in done.stdout.split()]

    status, printed = run(compiled("faulty", sources(tests, isFixed=False)))
    assert status != 0
    assert shape(shown[1].splitlines()[1]) in shape(printed), f"as the guide shows: {printed}"
    reason = re.search(r"Recorded: failed after .*?: (.*?)\. Now: (.*)", printed)
    assert "CheckoutError notPaid, caused by" in reason[1] and "bankIsDown" in reason[1], printed
    assert "notPaid" in reason[2] and "bankIsDown" in reason[2], "it fails again, for the same reason"
    assert printed.count("Recorded: 503.") == 3, "the server refuses each attempt again"
    assert "Add rules for requests" not in printed

    status, printed = run(compiled("fixed", sources(tests, isFixed=True)))
    assert status == 0, printed
    assert "2 tests" in printed


def test_without_the_bodies_there_are_placeholders(recorded, tmp_path):
    folder, code = recorded
    done = execute(PRODUCTS / "waybill-cli", "reproduce", folder / "collected", code, "--output", tmp_path)
    assert "Some bodies were not kept: replace each placeholder, or pass --bodies." in done.stderr
    assert any("placeholder: A body of" in file.read_text() for file in tmp_path.iterdir())


def test_exported_rules_are_those_of_the_schema(recorded, tmp_path):
    folder, _ = recorded
    file = tmp_path / "rules.json"
    waybill("export", folder / "phone", "--format", "rules", "--output", file)
    assert validate.load_validators()["rules"].is_valid(json.loads(file.read_text()))
    rules = json.loads(file.read_text())["rules"]
    assert len(rules) > 120 and all(rule["times"] == 1 for rule in rules)
