"""Carries sets to a collector, in the background: Schemas/collector.openapi.yaml and Schemas/receipt.v1.schema.json."""

import http.client
import json
import logging
import os
import random
import threading
import urllib.parse
from pathlib import Path

from .recorder import Recorder

SET_TYPE = "application/vnd.waybill.transaction-set.v1+json"
RECEIPT_TYPE = "application/vnd.waybill.receipt.v1+json"
logger = logging.getLogger("waybill")


class NotDelivered(Exception):
    """Whatever was answered, it settles nothing."""


class Delivery(threading.Thread):
    """Sends what is pending every now and then; while the collector is down, keeps it and tries ever more seldom."""

    def __init__(self, recorder: Recorder, collector: str, token: str | None = None, interval: float = 1, longest_wait: float = 60):
        super().__init__(name="waybill", daemon=True)
        self._recorder = recorder
        self._address = urllib.parse.urlsplit(collector)
        if self._address.scheme not in ("http", "https") or not self._address.hostname:
            raise ValueError("The collector's address is no HTTP URL.")
        self._token = token
        self._interval = interval
        self._longest_wait = longest_wait
        self._limit = 2_000
        self._stopping = threading.Event()
        self._is_down = False

    def run(self) -> None:
        wait = self._interval
        while not self._stopping.wait(wait):
            if self.flush():
                wait = self._interval
            else:  # not all servers at the same moment, when the collector is up again
                wait = min(wait * 2, self._longest_wait) * random.uniform(0.8, 1.2)

    def flush(self, has_ended: bool = False) -> bool:
        """Sends all that is pending, on the calling thread; whether the collector has it all."""
        while next_set := self._recorder.next_set(self._limit, has_ended):
            try:
                receipt = self._post(next_set)
            except (NotDelivered, OSError, http.client.HTTPException) as problem:
                if not self._is_down:
                    logger.warning("Facts stay pending: %s", problem)
                self._is_down = True
                return False
            self._is_down = False
            for rejection in self._recorder.settle(next_set, receipt):
                logger.warning("The collector rejects fact %s: %s", rejection.get("sequence"), rejection.get("reason"))
        return True

    def close(self, undelivered: Path | None = None) -> None:
        """Ends the thread after a last try. What is left goes into a folder as set files, which `waybill import` reads."""
        self._stopping.set()
        if self.is_alive():
            self.join()
        if self.flush(has_ended=True) or undelivered is None:
            return
        undelivered.mkdir(parents=True, exist_ok=True)
        while next_set := self._recorder.next_set(self._limit, has_ended=True):
            file = undelivered / f"{next_set['set']}.json"
            unfinished = file.with_suffix(".part")
            # A set has the secret of its source.
            with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as output:
                output.write(encoded(next_set))
            unfinished.rename(file)
            self._recorder.settle(next_set, {})

    def _post(self, next_set: dict) -> dict:
        is_secure = self._address.scheme == "https"
        kind = http.client.HTTPSConnection if is_secure else http.client.HTTPConnection
        connection = kind(self._address.hostname, self._address.port, timeout=10)
        fields = {"Content-Type": SET_TYPE, "Accept": RECEIPT_TYPE}
        if self._token:
            fields["Authorization"] = f"Bearer {self._token}"
        try:
            connection.request("POST", self._address.path.rstrip("/") + "/v1/sets", encoded(next_set), fields)
            response = connection.getresponse()
            body = response.read(8_000_000)
        finally:
            connection.close()
        if response.status == 413:
            self._limit = max(1, self._limit // 2)
        return receipt_in(response, body, next_set)


def encoded(value: dict) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def receipt_in(response: http.client.HTTPResponse, body: bytes, sent: dict) -> dict:
    """The receipt in an answer. Only one that names the set and whose counts add up settles anything: a captive portal's 200 does not."""
    if response.status != 200 or response.headers.get_content_type() != RECEIPT_TYPE:
        raise NotDelivered(f"the collector answered {response.status}, {response.headers.get_content_type()}.")
    count = len(sent["sources"][0]["facts"])
    try:
        receipt = json.loads(body)
        rejected = receipt.get("rejected", [])
        places = {rejection["index"] for rejection in rejected}
        is_whole = receipt["accepted"] + receipt["known"] + len(rejected) == count and places <= set(range(count))
        if receipt["set"].lower() == sent["set"] and is_whole and len(places) == len(rejected):
            return receipt
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise NotDelivered("the receipt is not for what was sent.")
