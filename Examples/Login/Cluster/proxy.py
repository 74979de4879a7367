"""A round-robin proxy of the demo: each request goes to the next collector, and to the one after it where that is gone.

In front of real collectors put nginx or the like: `Examples/Deploy/cluster/proxy.conf`.
"""

import http.client
import itertools
import threading

from forwarding import Forwarder, Forwarding  # of Tests/ClickHouse


class Proxy:
    """Listens on any free port of 127.0.0.1; `answered` counts requests by the address that answered them."""

    def __init__(self, addresses):
        self.addresses, self.answered, self.lock = addresses, dict.fromkeys(addresses, 0), threading.Lock()
        turns = itertools.count()
        proxy = self

        class Handler(Forwarding):
            def relay(self):
                body, first = self.body(), next(turns)
                for turn in range(len(addresses)):
                    address = addresses[(first + turn) % len(addresses)]
                    # A set may be sent twice, and nothing else here changes anything: so the next one may be asked.
                    try:
                        answer, whole = self.ask(address, body)
                    except (OSError, http.client.HTTPException):
                        continue
                    with proxy.lock:
                        proxy.answered[address] += 1
                    self.reply(answer, whole)
                    return True
                self.send_error(502, "no collector answers")
                return True

        self.server = Forwarder(Handler)
        self.address = f"127.0.0.1:{self.server.port}"

    def close(self):
        self.server.close()
