"""Independent validators check what Schemas/ publishes."""
import sys

from waybill import ROOT, execute


def test_golden_files_fit_the_schemas_and_wrong_ones_do_not():
    execute(sys.executable, ROOT / "Schemas/validate.py")


def test_the_collector_is_described_in_valid_openapi():
    execute(sys.executable, "-m", "openapi_spec_validator", ROOT / "Schemas/collector.openapi.yaml")
