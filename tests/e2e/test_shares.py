"""Shares that Slackline alone counts, with two replicas in active mode behind one balanced address, a
real kube-scheduler and API server: no node is over-booked and no slot given twice, whoever is asked."""

import http.server
import random
import threading
import unittest

from support.active import POLICY
from support.controlplane import ControlPlane, gpu_scheduler_config
from support.daemon import Daemon
from support.installation import wait_leading
from support.objects import bound_and_live, gpu_pod, name_of, node_of

SHARE = "example.com/share"
NODES, SHARES, GPUS = 2, 4, 2
SETTINGS = f"""\
planner: {{policy: "{POLICY}"}}
gpus:
  resources:
    - {{name: {SHARE}, sharing: timeslice, selfAccounted: true}}
"""


class Balancer:
    """Hands each call to any of the daemons that live, as a Service that selects all of them."""

    def __init__(self, daemons):
        draw = random.Random(1)

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                there = [daemon for daemon in daemons if daemon.process.alive()]
                status, text = draw.choice(there).post(self.path, body)
                self.send_response(status)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.extender_url = f"http://127.0.0.1:{self._server.server_port}/v1/extender"

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class SharesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ControlPlane()
        cls.addClassCleanup(cls.cluster.close)
        for node in cls.cluster.add_gpu_nodes(NODES, SHARES, resource=SHARE):
            cls.cluster.kubectl("label", "node", node, f"nvidia.com/gpu.count={GPUS}")
        account = cls.cluster.install_rbac()
        cls.daemons = [cls.replica(name, account) for name in ("a", "b")]
        for daemon in cls.daemons:  # the first one leads
            daemon.start()
            wait_leading(cls.cluster, cls.daemons[0])
        balancer = Balancer(cls.daemons)
        cls.addClassCleanup(balancer.close)
        cls.cluster.start_scheduler(gpu_scheduler_config(
            cls.cluster, balancer.extender_url, ignorable="false", name=SHARE, ignoredByScheduler="true",
        ))  # fmt: skip

    @classmethod
    def replica(cls, name, account):
        daemon = Daemon(account, cls.cluster.directory / name, "active", settings=SETTINGS)
        cls.cluster.adopt(daemon.process, f"slackline {name}")
        return daemon

    def test_two_replicas_never_split_a_booking(self):
        leader, other = self.daemons
        self.cluster.apply([gpu_pod(f"early-{i}", resource=SHARE) for i in range(5)])
        self.cluster.wait(lambda: len(self.slots()) == 5, 60, "five pods to be bound")
        for daemon in self.daemons:
            self.assertGreater(daemon.requests("filter"), 0, "both were asked")
        self.assertGreater(leader.requests("bind", result="ok"), 0)
        self.assertEqual(other.total("slackline_binds_total", outcome="bound"), 0)

        leader.kill()
        self.cluster.apply([gpu_pod(f"late-{i}", resource=SHARE) for i in range(7)])
        wait_leading(self.cluster, other)
        self.cluster.wait(lambda: len(self.slots()) == NODES * SHARES, 60, "every share to be given")
        every = [(f"node-{node}", slot) for node in range(NODES) for slot in range(SHARES)]
        self.assertEqual(sorted(self.slots()), every, "each slot to one pod")

    def slots(self):
        """(node, slot) of every bound pod."""
        found = []
        for pod in bound_and_live(self.cluster.list("pod", "default")):
            resource, _, slots = pod["metadata"]["annotations"]["slackline.dev/device-ids"].partition("=")
            self.assertEqual(resource, SHARE, name_of(pod))
            found += [(node_of(pod), int(slot)) for slot in slots.split(",")]
        return found
