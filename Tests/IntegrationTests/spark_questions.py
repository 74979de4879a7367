"""Asks Spark the questions of OfflineAnalysis, and kills a worker while it works on the first. Run by Spark's Python.

    spark_questions.py MASTER ANALYSIS LAKE PROCESS_GROUP

A line of JSON for each question with its rows, and one about the kill: how far the work was, and what of it failed.
"""
import json
import os
import signal
import sys
import threading
import time

from pyspark.sql import SparkSession

master, analysis, lake, group = sys.argv[1:]
QUESTIONS = ["duration", "funnel", "difference"]
EACH_ONCE = "SELECT count(*) AS rows, count(DISTINCT source, sequence) AS facts FROM facts"

spark = (
    SparkSession.builder.master(master).config("spark.ui.enabled", "false").config("spark.executor.memory", "600m")
    .config("spark.sql.shuffle.partitions", "4").config("spark.driver.host", "127.0.0.1")
    # Both workers take part, and each file of the lake is a task.
    .config("spark.scheduler.minRegisteredResourcesRatio", "1.0")
    .config("spark.sql.files.openCostInBytes", "128m").getOrCreate())
context = spark.sparkContext
context.setLogLevel("ERROR")


def ask(text):
    """The rows of the last statement."""
    rows = []
    code = "\n".join(line.partition("--")[0] for line in text.splitlines())
    for statement in filter(str.strip, code.split(";")):
        rows = [row.asDict() for row in spark.sql(statement.replace("${LAKE}", lake)).collect()]
    return rows


def read(name):
    with open(f"{analysis}/{name}.sql") as file:
        return file.read()


def stages():
    tracker = context.statusTracker()
    return [info for info in map(tracker.getStageInfo, tracker.getActiveStageIds()) if info]


def kill_in_the_middle(done, told):
    """Worker and executor, as a machine does that fails, once some tasks of a stage have ended and others run."""
    files = len(os.listdir(f"{lake}/facts"))  # the stage with as many tasks reads them
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not done.is_set():
        for stage in stages():
            is_midway = 0 < stage.numCompletedTasks < stage.numTasks and stage.numActiveTasks
            if stage.numTasks == files and is_midway and not told["killed"]:
                os.killpg(int(group), signal.SIGKILL)
                told |= {"killed": True, "completed": stage.numCompletedTasks, "tasks": stage.numTasks}
            told["failed"] = max(told["failed"], stage.numFailedTasks)
        time.sleep(0.005)


ask(read("lake.spark") + read("transactions"))
done, told = threading.Event(), {"killed": False, "failed": 0}
killer = threading.Thread(target=kill_in_the_middle, args=(done, told))
killer.start()
answers = {QUESTIONS[0]: ask(read(QUESTIONS[0]))}
done.set()
killer.join()
answers |= {name: ask(read(name)) for name in QUESTIONS[1:]}
answers["each once"] = ask(EACH_ONCE)
for name, rows in answers.items():
    print(json.dumps({"question": name, "rows": rows}))
print(json.dumps(told))
spark.stop()
