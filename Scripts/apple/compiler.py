"""Compiles modules against declarations of Apple's, and looks into their files, each text once."""
import concurrent.futures
import hashlib
import os
import re
import subprocess
from pathlib import Path

from apple import numbers, twins
from apple.platforms import C_TARGETS, DECLARATIONS, LIBRARIES, OWN_TARGETS, ROOT, TARGET, TESTS, TRAITS, Failure, Platform, decided_c

FEATURES = ["ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault"]

# The toolchain's modules that both systems share, or that those need.
SHARED = [
    "Swift", "SwiftOnoneSupport", "_Concurrency", "_StringProcessing", "_RegexParser", "RegexBuilder", "_Builtin_float", "Synchronization", "Observation",
    "Dispatch", "Glibc", "FoundationEssentials", "FoundationInternationalization", "_FoundationCollections",
]

# What the compiler says because the standard library here is Linux's, whatever the source: it lacks the one kind of pointer that only Objective-C
# has, and so the compiler does not go on to make the call of `f(&x)`. Types are checked before.
ARTEFACTS = [
    "libc not found", "allowing deserialization of",
    "broken standard library: cannot find intrinsic operations on UnsafeMutablePointer<T>",
]


def digest(words) -> str:
    made = hashlib.sha256()
    for word in words:
        made.update(len(word).to_bytes(8, "big") + word.encode())
    return made.hexdigest()[:16]


def findings(said: str) -> list[str]:
    lines = dict.fromkeys(re.findall(r"^.*(?:error|warning): .*$", said, flags=re.M))
    return [line for line in lines if not any(known in line for known in ARTEFACTS)]


class Module:
    """The files of a target with their conditions decided, and the modules that they see."""

    def __init__(self, name: str, files: dict[str, str], seen: list["Module"], folder: Path):
        self.name, self.files, self.seen = name, files, seen
        self.key = digest([name, *(word for pair in files.items() for word in pair), *(module.face for module in seen)])
        self.folder = folder / self.key
        # What others see of it, which says when they have to be looked at again; what was found while it was made.
        self.face, self.found = "", []

    def key_of_file(self, path: str, flags: list[str]) -> str:
        return digest([self.name, path, self.files[path], self.face, *flags, *(module.face for module in self.seen)])

    def copy(self) -> Path:
        copies = self.folder / "copy"
        for path, text in self.files.items():
            copy = copies / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text)
        return copies


class Compiler:
    """Makes modules in a folder, and looks into files, each text once."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.made: dict[str, Module] = {}
        self.looks: dict[str, concurrent.futures.Future] = {}  # what was found in a file, by its key
        self.pool = concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1))
        self.runs = 0
        swiftc = subprocess.run(["which", "swiftc"], capture_output=True, text=True).stdout.strip()
        if not swiftc:
            raise Failure("swiftc is not there: install Swift 6.2 or later.")
        toolchain = Path(os.path.realpath(swiftc)).parent.parent
        includes = folder / "include"
        includes.mkdir(parents=True)
        for header in ("sqlite3.h", "zlib.h", "zconf.h"):
            (includes / header).symlink_to(self.header(header))
        maps = ["-fmodule-map-file=" + str(DECLARATIONS / "Darwin/module.modulemap")]
        for target in C_TARGETS:
            for file in (ROOT / "Sources" / target).iterdir():
                copy = folder / target / file.name
                copy.parent.mkdir(exist_ok=True)
                copy.write_text(decided_c(file.read_text()))
            maps.append("-fmodule-map-file=" + str(folder / target / "module.modulemap"))
        clang = ["-nostdlibinc", "-isystem", str(DECLARATIONS / "Darwin"), "-isystem", str(includes), *maps]
        self.flags = [
            "-clang-target", self.share(toolchain / "lib/swift/linux"), "-I", str(folder / "toolchain"),
            "-parse-as-library", "-swift-version", "6",
            "-enable-objc-interop", "-disable-objc-attr-requires-foundation-module", "-diagnostic-style", "llvm",
            "-plugin-path", str(toolchain / "lib/swift/host/plugins"), "-module-cache-path", str(folder / "cache"),
            "-I", str(DECLARATIONS / "ObjectiveC"),
        ]
        for feature in FEATURES:
            self.flags += ["-enable-upcoming-feature", feature]
        for flag in clang:
            self.flags += ["-Xcc", flag]

    def share(self, modules: Path) -> str:
        """Copies the toolchain's modules of Linux, with what says that they are for Linux changed: since when something is there, `@available`, is in them
        for all systems, and with one of Apple's for a target the compiler looks at it. Gives the target that they had."""
        target = b""
        for name in SHARED:
            original = next((modules / f"{name}.swiftmodule").glob("*-linux-gnu.swiftmodule"), None)
            if not original:
                raise Failure(f"{modules}/{name}.swiftmodule is not there for this machine.")
            target = original.stem.encode()
            data = original.read_bytes()
            # It must stay as long as it was: zeros behind the version do no harm.
            if data.count(target) != 1 or len(TARGET) > len(target):
                raise Failure(f"{original} does not say once that it is for {original.stem}: Scripts/apple/compiler.py does not know this toolchain.")
            copy = self.folder / "toolchain" / f"{name}.swiftmodule" / "arm64-apple-ios.swiftmodule"
            copy.parent.mkdir(parents=True)
            copy.write_bytes(data.replace(target, TARGET.encode().ljust(len(target), b"0")))
        return target.decode()

    def header(self, name: str) -> str:
        text = subprocess.run(
            ["clang", "-M", "-x", "c", "-"], input=f"#include <{name}>\n", capture_output=True, text=True).stdout
        for word in text.replace("\\\n", " ").split():
            if word.endswith("/" + name):
                return word
        raise Failure(f"{name} is not there: run `make setup`.")

    def run(self, module: Module, *arguments: str) -> subprocess.CompletedProcess:
        self.runs += 1
        seen = [word for other in module.seen for word in ("-I", str(other.folder))]
        own = ["-package-name", "waybill"] if module.name in LIBRARIES or module.name in TESTS else []
        own += ["-target", OWN_TARGETS.get(module.name, TARGET)]
        own += ["-D", TRAITS[module.name]] if module.name in TRAITS else []
        return subprocess.run(
            ["swiftc", "-frontend", *self.flags, *own, *seen, "-module-name", module.name, *arguments],
            cwd=module.copy(), capture_output=True, text=True, errors="replace")

    def module(self, name: str, files: dict[str, str], seen: list[Module]) -> Module:
        """What others see of these files, in spite of mistakes, so that one does not hide those of the next module."""
        module = Module(name, files, seen, self.folder / "modules")
        if module.key in self.made:
            return self.made[module.key]
        output = module.folder / f"{name}.swiftmodule"
        run = self.run(
            module, "-emit-module", "-o", str(output), *Platform.flags, "-experimental-skip-all-function-bodies",
            "-experimental-allow-module-with-compiler-errors", *files)
        module.found = findings(run.stderr)
        if not output.exists() and not any("error:" in line for line in module.found):
            module.found.append(f"{name}: the compiler failed with {run.returncode}: {run.stderr[-2000:]}")
        # The fingerprints of types say more than others see: what their functions do is in them.
        face = re.sub(rb"[0-9a-f]{32}", b"", output.read_bytes()) if output.exists() else os.urandom(16)
        module.face = hashlib.sha256(face).hexdigest()
        self.made[module.key] = module
        return module

    def look(self, module: Module, paths: list[str], flags: list[str]) -> list[str]:
        """What is found in some files of a module: by the compiler, and in its syntax trees."""
        primary = [word for path in paths for word in ("-primary-file", path)]
        run = self.run(module, "-dump-ast", *flags, *primary, *(path for path in module.files if path not in paths))
        found = findings(run.stderr)
        if run.returncode and not re.search("^.*error: ", run.stderr, flags=re.M):
            found.append(f"{module.name}: the compiler failed with {run.returncode}: {run.stderr[-2000:]}")
        return found + numbers.findings(run.stdout) + [line for path in paths for line in twins.findings(path, module.files[path])]

    def begin_looking(self, module: Module, paths: list[str], flags: list[str]) -> None:
        """Has those files looked into that have not been yet; what is found is waited for in `found`."""
        paths = [path for path in paths if module.key_of_file(path, flags) not in self.looks]
        look = self.pool.submit(self.look, module, paths, flags) if paths else None
        for path in paths:
            self.looks[module.key_of_file(path, flags)] = look

    def found(self, module: Module, paths: list[str], flags: list[str]) -> list[str]:
        """What is found in a module: while it was made, in its files, and where the compiler names none."""
        lines = list(module.found)
        for path in paths:
            said = self.looks[module.key_of_file(path, flags)].result()
            lines += [line for line in said if line.startswith(path + ":") or line.split(":")[0] not in module.files]
        return list(dict.fromkeys(lines))
