"""Takes the pictures of the inspector that README and guides show, light and dark, 960 pixels wide, from the sample store. Run by `make screenshots`.

docc shows `NAME~dark.png` in place of `NAME.png` to readers who prefer dark pages. The files have 256 colors, half of the bytes.
"""
import io
import json
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from playwright.sync_api import sync_playwright
from waybill import PRODUCTS, ROOT, Collector, execute, waybill

try:
    from PIL import Image
except ImportError:
    sys.exit("Pillow is missing: delete .build-tools/validators, and run `make setup`.")

PICTURES = ROOT / "Sources/Waybill/Waybill.docc/Pictures"
# A README is about 850 points wide. The text of a page of 1280 points would be too small there.
WIDTH, HEIGHT, SCALE = 960, 640, 4 / 3


def save(page, name, selector):
    """Saves the part of a page that an element takes, with a margin, in 256 colors."""
    box = page.locator(selector).first.bounding_box()
    height = box["height"] + 24 if selector != "body" else HEIGHT
    shot = page.screenshot(full_page=True, clip={"x": 0, "y": max(0, box["y"] - 12), "width": WIDTH, "height": height})
    picture = Image.open(io.BytesIO(shot)).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    file = PICTURES / f"{name}.png"
    picture.save(file, optimize=True)
    print(f"{file.relative_to(ROOT)}: {picture.width} × {picture.height} pixels, {file.stat().st_size:,} bytes")


def main():
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        store = Path(folder) / "sample.sqlite"
        execute(PRODUCTS / "SampleReports", store)
        failed = json.loads(waybill("list", store, "useCase:login outcome:failed", "--json", "--limit", "20"))["rows"]
        both = next(row["id"] for row in failed if row["source_count"] == 2)
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        with Collector(store) as server:
            for scheme, suffix in (("light", ""), ("dark", "~dark")):
                page = browser.new_context(
                    viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=SCALE, color_scheme=scheme, timezone_id="UTC"
                ).new_page()
                for name, path, selector in (
                    ("failed-login", f"transactions/{both}", "main article"),
                    ("transactions", "transactions", "body"),
                    ("duration", "use-cases/checkout/duration", "main section"),
                    ("errors", "errors", "main section"),
                ):
                    page.goto(f"{server.url}/{path}")
                    save(page, f"{name}{suffix}", selector)
        browser.close()


main()
