"""The platforms as which sources are compiled, what is compiled, and how the conditions of a platform are decided in its text."""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DECLARATIONS = ROOT / "Tests/Apple"


class Failure(Exception):
    pass


class Platform:
    flags = ["-D", "DEBUG"]

    def __init__(self, name: str, os: str = "", environment: str = ""):
        self.name, self.os, self.environment = name, os or name, environment


# The first is compiled whole, the others as far as they differ. A simulator differs in what it says of the device alone.
WATCH = Platform("watchOS")
PLATFORMS = [
    Platform("iOS"), Platform("macOS"), Platform("tvOS"), WATCH, Platform("visionOS"),
    Platform("macCatalyst", os="iOS", environment="macCatalyst"), Platform("simulator", os="iOS", environment="simulator"),
]


class Variant(Platform):
    """A platform with other flags, for the files in which a word says that they may differ then."""

    def __init__(self, name: str, of: Platform, what: str, words: str, flags: list[str]):
        super().__init__(name, of.os, of.environment)
        self.of, self.what, self.words, self.flags = of, what, re.compile(words), flags

    def paths(self, texts: dict[str, str]) -> list[str]:
        return [path for path, text in texts.items() if self.words.search(text)]


VARIANTS = [
    # Watches before Series 9. What C declares by the processor's width is `int` there instead of `long`: of another type, so that it can be told apart.
    Variant(
        "watchOS, 32 bits", WATCH, "what C declares by the processor's width",
        r"\b(time_t|timespec|timeval|tv_sec|tv_n?u?sec|clock_t|tm_gmtoff|CLong|CUnsignedLong)\b", [*Platform.flags, "-Xcc", "-DINT_HAS_32_BITS"]),
    *(Variant(f"{platform.name}, release", platform, "what depends on DEBUG", r"\bDEBUG\b", []) for platform in PLATFORMS[:5]),
]

# The oldest system that Package.swift names. The others are of the same year, and have the same standard library.
TARGET = "arm64-apple-ios16.0"
# The targets behind traits that an app may link, and the module of another package that each uses.
TRAITS = {"WaybillLogging": "Logging"}
# What an app links, in the order of Package.swift, and an app: each knows only those above it.
LIBRARIES = [
    "WaybillAtomics", "WaybillCore", "WaybillStore", "Waybill", "WaybillQueries", "WaybillExport", "WaybillInspector", "WaybillUI",
    "WaybillLegacy", "WaybillSpans", "WaybillTesting", *TRAITS,
]
# What only Apple's platforms run of the tests and the guides.
TESTS = {
    "CaptureTests": "Tests/WaybillTests/Capture/Darwin", "SimulatorTests": "Tests/Simulator/Tests/SimulatorTests",
    "GuideTests": "Tests/WaybillTests/Guides/Apple",
}
ALSO = {name: ["Tests/WaybillTests/UseCases.swift"] for name in ["CaptureTests", "GuideTests"]}
TARGETS = {name: f"Sources/{name}" for name in LIBRARIES} | {"LoginApp": "Examples/LoginApp"} | TESTS
# The example is an app for phones, and of a later one (Examples/LoginApp/project.yml).
SYSTEMS = {"LoginApp": {"iOS"}, "GuideTests": {"iOS"}}
OWN_TARGETS = {"LoginApp": "arm64-apple-ios17.0"}
C_TARGETS = ["CWaybillSQLite", "CWaybillZlib", "CAtomicWords", "CJournal"]

# The modules that conditions ask for, and the systems that have them. One that is not named here has no declarations in Tests/Apple, and has to get
# some first; those of the toolchain need none.
ALL = {"iOS", "macOS", "tvOS", "watchOS", "visionOS"}
STUBS = {
    "ObjectiveC": ALL, "Darwin": ALL, "Foundation": ALL, "Security": {"macOS"}, "UIKit": ALL - {"macOS"}, "AppKit": {"macOS"}, "WebKit": {"iOS", "macOS", "visionOS"},
    "SwiftUI": ALL, "BackgroundTasks": {"iOS", "tvOS", "visionOS"}, "Testing": ALL, "TestSupport": ALL, "Logging": ALL,
    "os": ALL, "Network": ALL, "MetricKit": {"iOS", "macOS", "visionOS"},
}
# What is for the screen alone: what does not import it does not depend on how platforms differ in it.
SCREEN = re.compile(r"^[a-z @]*\bimport (UIKit|AppKit|WebKit|SwiftUI|BackgroundTasks)\b", re.M)
TOOLCHAIN = {"Dispatch": ALL, "Observation": ALL}
# Testing comes with Xcode, for tests: without it WaybillTesting has no trait.
ABSENT = {name: set() for name in ["Testing", "FoundationNetworking", "Glibc", "Musl", "Android", "Bionic", "WinSDK", "WASILibc", "CRT"]}
MODULES = STUBS | TOOLCHAIN | ABSENT


def targets(platform: Platform) -> list[str]:
    return [target for target in TARGETS if platform.os in SYSTEMS.get(target, ALL)]


def decided(text: str, platform: Platform, path: str) -> str:
    """The text with its conditions of the platform decided; lines stay where they are."""
    def can_import(match):
        if match[1] not in MODULES:
            raise Failure(f"{path}: canImport({match[1]}): {match[1]} has no declarations in Tests/Apple yet; write what is used of it.")
        return "true" if platform.os in MODULES[match[1]] else "false"

    def line(match):
        condition = re.sub(r"\bcanImport\((\w+)\)", can_import, match[0])
        condition = re.sub(r"\bos\((\w+)\)", lambda m: "true" if m[1] == platform.os else "false", condition)
        return re.sub(r"\btargetEnvironment\((\w+)\)", lambda m: "true" if m[1] == platform.environment else "false", condition)

    # The macros of tests are functions.
    text = re.sub(r"@(?:Test|Suite)\b(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?", "", text)
    text = re.sub(r"#(expect|require)\(", r"\1(", text)
    # A preview is a macro of Xcode's: its body is checked as a view of its own.
    text = re.sub(r"^#Preview {$", "@MainActor @ViewBuilder private var preview: some View {", text, flags=re.M)
    return re.sub(r"^[ \t]*#(?:if|elseif)\b.*$", line, text, flags=re.M)


def decided_c(text: str) -> str:
    text = re.sub(r"^#ifdef __linux__$", "#if 0", text, flags=re.M)
    return re.sub(r"^#ifdef __APPLE__$", "#if 1", text, flags=re.M)


def resources(folder: Path) -> str:
    """What SwiftPM makes of embedded resources."""
    names = sorted(re.sub(r"\W", "_", file.name) for file in folder.iterdir())
    members = "".join(f"static let {name}: [UInt8] = []\n" for name in names)
    return f"struct PackageResources {{\n{members}}}\n"


def sources() -> dict[str, dict[str, str]]:
    """The text of each file of each target, by its path."""
    found = {}
    for target, folder in TARGETS.items():
        files = [file for file in sorted((ROOT / folder).rglob("*.swift")) if ".docc/" not in str(file)]  # a tutorial's files are no sources
        files += [ROOT / path for path in ALSO.get(target, [])]
        found[target] = {str(file.relative_to(ROOT)): file.read_text() for file in files}
        for assets in ["Assets", "Report/Assets"]:
            if (ROOT / folder / assets).is_dir():
                found[target][f"{folder}/PackageResources.swift"] = resources(ROOT / folder / assets)
    return found
