"""`make demo-cluster`, with fewer logins: every count agrees, and what is printed is what its README shows."""
import sys

import pytest
from test_examples import assert_shown
from waybill import ROOT, TIMEOUT, execute

pytestmark = pytest.mark.timeout(4 * TIMEOUT)


def test_the_demo_of_a_cluster_prints_what_its_readme_shows():
    printed = execute(sys.executable, ROOT / "Examples/Login/Cluster/demo.py", "--runs", "40").stdout
    if "is skipped" in printed:
        pytest.skip(printed)
    assert_shown("Login/Cluster", printed)
