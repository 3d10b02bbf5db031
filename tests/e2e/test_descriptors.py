"""File descriptors: all listeners of the daemon share one limit, and no flood of one shuts the others."""

import http.client
import json
import pathlib
import resource
import socket
import tempfile
import time
import unittest

from support.daemon import ROOT, Daemon
from support.pki import Pki
from support.process import free_ports, wait

DUMP = ROOT / "manifests/clusters/demo.yaml"
LIMIT = 1024
IDLE = 400  # connections on each listener; five times as many are twice the limit
ELSEWHERE = ("127.0.0.2", 0)  # where the flood comes from
CALL = json.dumps(
    {
        "Pod": {
            "metadata": {"name": "p", "namespace": "t", "uid": "u-p"},
            "spec": {"containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]},
        },
        "Nodes": None,
        "NodeNames": ["a100-1", "a100-2"],
    }
)


class DescriptorsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        usual = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (usual[1], usual[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, usual)
        self.open = []
        self.addCleanup(lambda: [each.close() for each in self.open])
        pki = Pki(pathlib.Path(folder.name) / "pki")
        proxy, webhook = free_ports(2)
        self.daemon = Daemon(
            None, folder.name, flags=["--cluster", f"file:{DUMP}"],
            settings=f"listeners: {{proxyApi: {{address: '127.0.0.1:{proxy}'}}, webhook: {{address: "
            f"'127.0.0.1:{webhook}', tls: {{certFile: {pki.crt('extender')}, keyFile: {pki.key('extender')}}}}}}}\n",
        )  # fmt: skip
        self.plain = [self.daemon.extender_port, self.daemon.api_port, self.daemon.metrics_port, proxy]
        self.ports = [*self.plain, webhook]
        self.addCleanup(self.daemon.kill)

    def start(self, soft, hard):
        self.daemon.process.argv[:0] = ["prlimit", f"--nofile={soft}:{hard}"]
        self.daemon.start()

    def open_idle(self, port):
        self.open.append(socket.create_connection(("127.0.0.1", port), source_address=ELSEWHERE))

    def open_after_a_request(self, port):
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=5, source_address=ELSEWHERE)
        self.open.append(link)
        try:
            link.request("GET", "/livez")
            link.getresponse().read()
        except OSError:
            pass  # closed for lack of room, before its answer or after

    def expect_service(self, for_s):
        """Every half second on every plain listener, at less than a third of one core."""
        before_s, began = self.daemon.cpu_s(), time.monotonic()
        while time.monotonic() < began + for_s:
            self.assertEqual(self.daemon.get("/livez", port=self.daemon.metrics_port)[0], 200)
            self.assertEqual(self.daemon.post("/v1/extender/filter", CALL)[0], 200)
            for port in (self.daemon.api_port, self.plain[3]):
                self.assertEqual(self.daemon.get("/v1/cluster", port=port)[0], 200)
            time.sleep(0.5)
        share = (self.daemon.cpu_s() - before_s) / (time.monotonic() - began)
        self.assertLess(share, 1 / 3, "processor time; a thread that spins takes a whole core")

    def refused(self, reason):
        return self.daemon.total("slackline_http_refused_total", reason=reason)

    def test_hundreds_of_idle_connections_on_every_listener_leave_all_in_service(self):
        self.start(LIMIT, LIMIT)
        log = self.daemon.process.log.read_text()
        self.assertRegex(log, r"file_descriptors_low.*limit=1024 .*remedy=")
        for port in self.ports:
            for _ in range(IDLE // 2):
                self.open_idle(port)
            if port in self.plain:
                for _ in range(IDLE // 2):
                    self.open_after_a_request(port)
        self.expect_service(for_s=4)
        self.assertGreater(self.refused("evicted"), 0)
        self.assertEqual(self.refused("file_descriptors"), 0, "no listener takes what others need")
        self.assertLess(self.daemon.total("process_open_fds"), LIMIT)

    def test_the_soft_limit_becomes_the_hard_one(self):
        hard = min(8000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        self.start(256, hard)
        self.assertEqual(self.daemon.total("process_max_fds"), hard)
        self.assertNotIn("file_descriptors_low", self.daemon.process.log.read_text())

    def test_a_limit_that_is_reached_closes_idle_connections_and_never_spins(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        self.start(hard, hard)
        for port in self.ports:
            self.open_idle(port)
        for _ in range(20):
            for port in self.plain:
                self.open_after_a_request(port)
        used = int(self.daemon.total("process_open_fds"))
        resource.prlimit(self.daemon.process.pid, resource.RLIMIT_NOFILE, (used, hard))
        for port in self.ports:
            for _ in range(100):
                self.open_idle(port)
        self.expect_service(for_s=4)
        self.assertGreater(self.refused("evicted"), 0)
        # Not even the spare ones: nobody is served, and nobody spins.
        resource.prlimit(self.daemon.process.pid, resource.RLIMIT_NOFILE, (3, hard))
        for port in self.ports:
            self.open_idle(port)
        before_s = self.daemon.cpu_s()
        time.sleep(3)
        self.assertLess(self.daemon.cpu_s() - before_s, 1, "of three seconds")
        resource.prlimit(self.daemon.process.pid, resource.RLIMIT_NOFILE, (hard, hard))
        wait(lambda: self.daemon.get("/livez", port=self.daemon.metrics_port)[0] == 200, 5, "the listener to go on")
        self.expect_service(for_s=1)


if __name__ == "__main__":
    unittest.main()
