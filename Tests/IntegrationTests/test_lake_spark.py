"""The questions of OfflineAnalysis asked of one lake by DuckDB and by a Spark cluster, one worker of which is killed
meanwhile; and a lake in a bucket of a server that somebody else wrote."""
import json
import os
import queue
import re
import signal
import subprocess
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest
from s3 import Store
from test_lake import FOLDER, PLACE, Collected, assert_each_fact_once, ended, read
from waybill import ROOT, TIMEOUT, execute, in_duckdb, in_sqlite

ANALYSIS = ROOT / "Examples/OfflineAnalysis"
QUESTIONS = ["duration", "funnel", "difference"]
INCREMENTS = 12 if os.environ.get("SHORT") else 40


@pytest.fixture(scope="module")
def python():
    """The Python that has Spark and moto."""
    done = subprocess.run([ROOT / "Scripts/lake-tools"], capture_output=True, text=True, timeout=280)
    if done.returncode != 0:
        pytest.skip(done.stderr.strip())
    return ROOT / ".build-tools/lake/bin/python3"


class Cluster:
    """A standalone master and two workers, each with its executors a process group."""

    def __init__(self, python, folder):
        self.running, self.folder = ExitStack(), folder
        home = next((Path(python).parents[1] / "lib").glob("python*/site-packages/pyspark"))
        self.java = [home / "bin/spark-class"]
        self.master = self.start("master.Master", "--host", "127.0.0.1", says=r"spark://127\.0\.0\.1:\d+")[1]
        self.workers = [self.work(number) for number in range(2)]

    def work(self, number):
        options = ["--host", "127.0.0.1", "--cores", "1", "--memory", "700m", "--work-dir", self.folder / f"{number}"]
        return self.start("worker.Worker", *options, self.master, says="Successfully registered with master")[0]

    def start(self, role, *options, says):
        """The process group, and what it said."""
        process = subprocess.Popen(
            [*self.java, f"org.apache.spark.deploy.{role}", "--port", "0", "--webui-port", "0", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True, env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_NO_DAEMONIZE": "1"})
        self.running.callback(end, process)
        said = queue.Queue()

        def listen():
            for line in process.stdout:
                if found := re.search(says, line):
                    said.put(found[0])

        threading.Thread(target=listen, daemon=True).start()
        return process.pid, said.get(timeout=TIMEOUT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.running.close()


def end(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # the one that was killed on purpose
    process.wait(TIMEOUT)


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """One of many increments, of which some runs were killed on the way, and what it was exported from."""
    folder = tmp_path_factory.mktemp("lake")
    collected = Collected(folder)
    with Store(folder / "buckets") as store:
        for number in range(INCREMENTS):
            collected.add(logins=250)
            if number % 5 == 1:
                store.harm, store.puts, store.known = {3: "before"}, 0, threading.Event()
                store.victim = collected.export(PLACE, store.environment, "--gzip")
                store.known.set()
                assert ended(store.victim)[0] == -signal.SIGKILL
                store.harm = {}
                collected.add(logins=50)
            assert ended(collected.export(PLACE, store.environment, "--gzip"))[0] == 0
    assert len(assert_each_fact_once(folder / FOLDER, collected)) >= 2, "readers have something to leave out"
    return folder / FOLDER, collected


@pytest.mark.timeout(900)
def test_duckdb_and_spark_answer_alike_though_a_worker_is_killed(lake, python, tmp_path):
    place, collected = lake
    with Cluster(python, tmp_path) as cluster:
        lines = execute(
            python, ROOT / "Tests/IntegrationTests/spark_questions.py", cluster.master, ANALYSIS, place,
            cluster.workers[0], timeout=600, SPARK_LOCAL_IP="127.0.0.1", PYTHONWARNINGS="ignore").stdout.splitlines()
    *answers, told = [json.loads(line) for line in lines if line.startswith("{")]
    print(f"{len(read(place)[0])} facts in {INCREMENTS} increments; of Spark: {told}")
    assert told["killed"] and told["completed"] < told["tasks"], "it was killed in the middle"
    assert told["failed"], "what it was at had to be done again"
    in_spark = {answer["question"]: answer["rows"] for answer in answers}
    each_once = "SELECT count(*) AS rows, count(DISTINCT (source, sequence)) AS facts FROM facts"
    *in_duck, rows = in_duckdb(
        f".read {ANALYSIS}/lake.duckdb.sql", f".read {ANALYSIS}/transactions.sql",
        *(f".read {ANALYSIS}/{question}.sql" for question in QUESTIONS), each_once, LAKE=str(place))
    assert dict(zip(QUESTIONS, in_duck)) == {question: in_spark[question] for question in QUESTIONS}
    assert rows == in_spark["each once"] == [{"rows": collected.facts(), "facts": collected.facts()}]
    begun, succeeded = in_sqlite(
        collected.folder / "waybill.sqlite", "SELECT count(*), sum(outcome = 'succeeded') FROM transactions")[0]
    reached = [row["reached"] for row in in_spark["funnel"]]
    assert (reached[0], reached[-1]) == (begun, succeeded), "and both are right"


MOTO = """
import json, os, sys
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "4"  # from the fifth request on it checks signatures
import boto3
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
url = "http://{}:{}".format(*server.get_host_and_port())
root = dict(endpoint_url=url, region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b")
iam = boto3.client("iam", **root)
iam.create_user(UserName="lake")
allowed = {"Effect": "Allow", "Action": ["s3:ListBucket", "s3:GetObject", "s3:PutObject"], "Resource": "*"}
policy = {"Version": "2012-10-17", "Statement": [allowed]}
iam.put_user_policy(UserName="lake", PolicyName="lake", PolicyDocument=json.dumps(policy))
key = iam.create_access_key(UserName="lake")["AccessKey"]
boto3.client("s3", **root).create_bucket(Bucket="facts")
print(json.dumps({"AWS_ENDPOINT_URL": url, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
    "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"], "AWS_SESSION_TOKEN": ""}), flush=True)
sys.stdin.read()
s3 = boto3.client("s3", endpoint_url=url, region_name="us-east-1", aws_access_key_id=key["AccessKeyId"],
    aws_secret_access_key=key["SecretAccessKey"])
keys = [found["Key"] for found in s3.list_objects_v2(Bucket="facts").get("Contents", [])]
print(json.dumps({key: s3.get_object(Bucket="facts", Key=key)["Body"].read().decode() for key in keys}), flush=True)
os._exit(0)
"""


def test_a_bucket_of_a_server_that_somebody_else_wrote_keeps_a_lake(python, tmp_path):
    collected = Collected(tmp_path)
    server = subprocess.Popen(
        [python, "-c", MOTO], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        environment = json.loads(server.stdout.readline())
        wrong = environment | {"AWS_SECRET_ACCESS_KEY": "another"}
        code, _, errors = ended(collected.export(PLACE, wrong))
        assert code == 1 and "SignatureDoesNotMatch" in errors
        for _ in range(2):
            assert ended(collected.export(PLACE, environment))[0] == 0
            collected.add()
        assert ended(collected.export(PLACE, environment))[0] == 0
        output, _ = server.communicate(timeout=TIMEOUT)
    finally:
        server.kill()
    for name, text in json.loads(output.splitlines()[-1]).items():
        file = tmp_path / "facts" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert assert_each_fact_once(tmp_path / "facts/shop/eu 1", collected) == set()
