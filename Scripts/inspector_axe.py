"""What axe-core, Deque's checker of WCAG 2.2 A and AA and of good practice, says about each page; it comes with a package of PyPI."""
import pathlib

import axe_playwright_python
from inspector_browser import Browser, check

SOURCE = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def audit(browser, server, token, places):
    """Every page, light and dark, with all that is folded unfolded."""
    rules = 0
    for scheme in ("light", "dark"):
        with Browser(browser, server, f"axe-{scheme}", scheme=scheme, token=token) as user:
            for path in [*places.values(), "/transactions?outcome=failed&text=nobody"]:
                rules += violations(user.open(path), f"{path}, {scheme}")
        with Browser(browser, server, f"axe-login-{scheme}", scheme=scheme) as user:
            rules += violations(user.open("/login"), f"/login, {scheme}")
    check(rules > 300, f"axe-core has looked at something: {rules} rules passed")
    print(f"axe-core: {rules} rules passed.")


def violations(page, where):
    """How many rules passed; those that did not are told."""
    # Evaluated by the debugger: the pages' own policy lets no script in.
    page.evaluate(SOURCE)
    page.evaluate("for (const folded of document.querySelectorAll('main details')) folded.open = true")
    result = page.evaluate("rules => axe.run(document, {runOnly: rules, resultTypes: ['violations']})", RULES)
    for violation in result["violations"]:
        nodes = "; ".join(f"{node['html'][:160]} ({node['failureSummary'][:200]})" for node in violation["nodes"][:3])
        check(False, f"axe-core, {where}: {violation['id']}, {len(violation['nodes'])} times: {' '.join(nodes.split())}")
    return len(result["passes"])
