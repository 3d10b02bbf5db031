"""Shares that Slackline alone counts, with two replicas in active mode, a real kube-scheduler and API server: no node is
over-booked and no slot given twice, whoever is asked. Behind one balanced address, and each next to a kube-scheduler."""

import http.server
import json
import os
import random
import signal
import threading
import unittest

from support.active import POLICY
from support.controlplane import ControlPlane, gpu_scheduler_config
from support.daemon import Daemon
from support.installation import SYSTEM, PodInstallation, install_in_pods, wait_leading
from support.objects import bound_and_live, gpu_pod, name_of, node_of

SHARE = "example.com/share"
NODES, SHARES, GPUS = 2, 4, 2
SETTINGS = f"""\
planner: {{policy: "{POLICY}"}}
gpus:
  resources:
    - {{name: {SHARE}, sharing: timeslice, selfAccounted: true}}
"""
RESOURCES = [
    {"name": "nvidia.com/gpu", "sharing": "whole"},
    {"name": SHARE, "sharing": "timeslice", "selfAccounted": True},
]


def add_share_nodes(cluster):
    for node in cluster.add_gpu_nodes(NODES, SHARES, resource=SHARE):
        cluster.kubectl("label", "node", node, f"nvidia.com/gpu.count={GPUS}")


def slots(cluster):
    """(node, slot) of every bound pod."""
    found = []
    for pod in bound_and_live(cluster.list("pod", "default")):
        resource, _, given = pod["metadata"]["annotations"]["slackline.dev/device-ids"].partition("=")
        assert resource == SHARE, name_of(pod)
        found += [(node_of(pod), int(slot)) for slot in given.split(",")]
    return found


EVERY_SLOT = [(f"node-{node}", slot) for node in range(NODES) for slot in range(SHARES)]


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
        add_share_nodes(cls.cluster)
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
        self.cluster.wait(lambda: len(slots(self.cluster)) == 5, 60, "five pods to be bound")
        for daemon in self.daemons:
            self.assertGreater(daemon.requests("filter"), 0, "both were asked")
        self.assertGreater(leader.requests("bind", result="ok"), 0)
        self.assertEqual(other.total("slackline_binds_total", outcome="bound"), 0)

        leader.kill()
        self.cluster.apply([gpu_pod(f"late-{i}", resource=SHARE) for i in range(7)])
        wait_leading(self.cluster, other)
        self.cluster.wait(lambda: len(slots(self.cluster)) == NODES * SHARES, 60, "every share to be given")
        self.assertEqual(sorted(slots(self.cluster)), EVERY_SLOT, "each slot to one pod")


class NeighbourTest(unittest.TestCase):
    """The chart's form `pod`: shares are given next to the kube-scheduler that schedules, and nowhere else."""

    def test_a_scheduler_that_was_stopped_gives_no_slot_again(self):
        cluster = ControlPlane()
        self.addCleanup(cluster.close)
        add_share_nodes(cluster)
        first = install_in_pods(cluster, "--set-json", "config.gpus.resources=" + json.dumps(RESOURCES))
        second = PodInstallation(cluster, "-1")
        second.run_as_installed()
        cluster.apply([gpu_pod(f"early-{i}", resource=SHARE) for i in range(5)])
        cluster.wait(lambda: len(slots(cluster)) == 5, 60, "five pods to be bound next to the first scheduler")
        self.assertEqual(second.daemon.requests("filter"), 0, "each kube-scheduler asks its neighbour")
        self.assertIn("does not hold the Lease kube-system/gpu-scheduler", self.refusal(second), "whoever asks it")
        self.assertEqual(self.refusal(first), "")

        # As if the machine of the first pod stood still.
        frozen = [first.daemon.process, cluster.parts["gpu-scheduler"]]
        for process in frozen:
            os.kill(process.pid, signal.SIGSTOP)
        cluster.apply([gpu_pod(f"late-{i}", resource=SHARE) for i in range(NODES * SHARES)])
        cluster.wait(lambda: len(slots(cluster)) == NODES * SHARES, 90, "the second scheduler to give all shares")
        for process in frozen:
            os.kill(process.pid, signal.SIGCONT)
        self.assertIn("does not hold the Lease", self.refusal(first), "its term is over by its own clock")
        cluster.wait(lambda: not cluster.parts["gpu-scheduler"].alive(), 30, "the first scheduler to see that it lost")
        del cluster.parts["gpu-scheduler"]  # nobody misses it
        self.assertEqual(sorted(slots(cluster)), EVERY_SLOT, "each slot to one pod")
        self.assertEqual(first.daemon.total("slackline_binds_total", outcome="bound"), 5)

        self.tells_who_is_not_asked(cluster, first, second)

    def tells_who_is_not_asked(self, cluster, teller, scheduling):
        """The pod in which kube-scheduler schedules, as its kubelet speaks of it."""
        pods, name = cluster.collection("pod", SYSTEM), scheduling.host
        spec = {**scheduling.spec, "nodeName": "node-0"}
        cluster.apply(
            [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": SYSTEM}, "spec": spec}]
        )

        def ready(status):
            said = {"status": {"conditions": [{"type": "Ready", "status": status}]}}
            self.assertEqual(cluster.request("PATCH", f"{pods}/{name}/status", said)[0], 200)

        def told():
            return [each for each in cluster.list("event", SYSTEM) if each["reason"] == "SlacklineNotAsked"]

        cluster.wait(lambda: cluster.get("pod", SYSTEM, name)["status"].get("phase") == "Running", 30, "its kubelet")
        ready("False")
        cluster.wait(told, 90, "the first replica to tell of the second")
        self.assertEqual({each["involvedObject"]["name"] for each in told()}, {name})
        self.assertEqual(teller.daemon.total("slackline_scheduler_alone"), 1)
        ready("True")
        cluster.wait(lambda: teller.daemon.total("slackline_scheduler_alone") == 0, 20, "it to be ready")

    def refusal(self, replica):
        pod = gpu_pod("asked", resource=SHARE)
        pod["metadata"] |= {"namespace": "default", "uid": "u"}
        asked = json.dumps({"Pod": pod, "NodeNames": ["node-0"]})
        status, said = replica.daemon.post("/v1/extender/filter", asked)
        self.assertEqual(status, 200, said)
        return json.loads(said).get("Error", "")
