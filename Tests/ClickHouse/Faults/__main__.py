"""`make faults-cluster`: what is promised about facts beyond one machine, on doors and replicas that are killed."""

import argparse
import random
import sys
import time
import traceback
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
from cases import CASES  # noqa: E402
from counting import Counts, head, lines, write  # noqa: E402
from histories import chance_of  # noqa: E402
from stages import ClickHouse, Folder, NoEngine, Skipped, whole  # noqa: E402

FILE = Path(__file__).resolve().parents[3] / ".build/faults-cluster.json"


def play(stage, name, seed, scale):
    begun, scene = time.monotonic(), None
    try:
        scene = stage.scene()
        counts = CASES[name](scene, chance_of(seed, name), scale)
    except Skipped as reason:
        counts = Counts()
        counts.skipped = str(reason)
    except Exception as error:
        counts = Counts()
        counts.problems = [f"The case could not be done: {error!r}, {traceback.format_exc(limit=-2)}"]
    finally:
        if scene:
            scene.close()
        whole(stage)
    counts.seconds = time.monotonic() - begun
    return counts


def main():
    arguments = argparse.ArgumentParser(prog="faults-cluster", description=__doc__)
    arguments.add_argument(
        "--stage",
        choices=["cluster", "one", "folder"],
        default="cluster",
        help="the cluster; one ClickHouse of the current version; one collector with a folder",
    )
    arguments.add_argument("--scale", type=int, default=1, help="how much of each case; 1 is what CI does")
    arguments.add_argument(
        "--seed", type=int, default=random.randrange(10**9), help="repeats the chance of an earlier run"
    )
    arguments.add_argument("--cases", help="some of them, separated by commas")
    arguments.add_argument("--output", default=FILE, help="where the table goes, as JSON")
    arguments = arguments.parse_args()
    names = arguments.cases.split(",") if arguments.cases else list(CASES)
    if unknown := set(names) - CASES.keys():
        arguments.error(f"there is no case {unknown}; they are {', '.join(CASES)}")
    try:
        stage = Folder() if arguments.stage == "folder" else ClickHouse(arguments.stage)
    except NoEngine as reason:
        return print(f"faults-cluster is skipped: {reason}")
    print(f"seed {arguments.seed}, scale {arguments.scale}, stage {arguments.stage}")
    print(head(names), flush=True)
    results = {}
    try:
        for name in names:
            results[name] = play(stage, name, arguments.seed, arguments.scale)
            print("\n".join(lines(name, results[name], names)), flush=True)
    finally:
        stage.close()
    write(results, arguments.output)
    wrong = [name for name, counts in results.items() if counts.has_failed]
    if wrong:
        print(f"Seed {arguments.seed}, wrong in {', '.join(wrong)}.")
        sys.exit(1)


if __name__ == "__main__":
    main()
