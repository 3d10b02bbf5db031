"""What tests of the planner share: a cluster with Slackline in active mode, and words about it."""

import json
import unittest

from support.active import POLICY
from support.bulk import send_all
from support.controlplane import DAEMON_USER, ControlPlane, gpu_scheduler_config
from support.daemon import Daemon
from support.installation import wait_leading
from support.objects import DURATION, bound_and_live, name_of, node_of, phase_of

GPU_TYPE = "Tesla-K80"
STOPS = ("slackline-system", "slackline-stops")
GPUS_PER_NODE = 4


class ActiveCase(unittest.TestCase):
    """A cluster for each class, clean for each test. Without a webhook: Jobs come as it leaves them
    (objects.waiting_job).
    """

    policy = POLICY
    settings = ""  # further keys of the daemon's configuration

    @classmethod
    def make_cluster(cls, nodes):
        cls.cluster = ControlPlane()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.add_gpu_nodes(nodes, GPUS_PER_NODE, GPU_TYPE)
        cls.account = cls.cluster.install_rbac()
        cls.cluster.look_after()

    @classmethod
    def start_planning(cls, account):
        """Starts a daemon with this kubeconfig, and a kube-scheduler that asks it."""
        cls.daemon = cls.replica("a", account).start()
        cls.scheduler_config = gpu_scheduler_config(cls.cluster, cls.daemon.extender_url)
        cls.cluster.start_scheduler(cls.scheduler_config)

    @classmethod
    def replica(cls, name, account):
        """A daemon in active mode, in a directory of its own; not started. Ends with the class."""
        settings = f'planner: {{policy: "{cls.policy}"}}\n{cls.settings}'
        daemon = Daemon(account, cls.cluster.directory / name, "active", settings=settings)
        cls.cluster.adopt(daemon.process, f"slackline {name}")
        return daemon

    def setUp(self):
        self.start_daemon()
        self.addCleanup(self.clean_up)

    def start_daemon(self):
        if not self.daemon.process.alive():
            self.daemon.start()
        wait_leading(self.cluster, self.daemon)

    def restart_scheduler(self):
        self.cluster.kill("kube-scheduler")
        self.cluster.start_scheduler(self.scheduler_config)

    def clean_up(self):
        for namespace in map(name_of, self.cluster.list("namespace")):
            if not namespace.startswith("kube-"):
                self.cluster.delete_all("job", namespace)
                self.cluster.delete_all("pod", namespace)
        self.forget_stops()

    def forget_stops(self):
        """Tasks that are deleted so soon after others were stopped for them bar their namespace: not for the next test."""
        if self.cluster.get("configmap", *STOPS) is None:
            return
        if self.daemon.process.alive():
            self.daemon.stop()
        self.cluster.kubectl("delete", "configmap", STOPS[1], "-n", STOPS[0])

    def keep_undisrupted(self, selector, **amount):
        """A disruption budget, once the daemon knows it. Gone with the test."""
        self.cluster.apply([{
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "keep", "namespace": "default"},
            "spec": {**amount, "selector": selector},
        }])  # fmt: skip
        self.addCleanup(self.cluster.kubectl, "delete", "pdb", "keep", "-n", "default", "--ignore-not-found")

        def known():
            counted = "observedGeneration" in self.cluster.get("poddisruptionbudget", "default", "keep").get(
                "status", {}
            )
            return counted and self.daemon.total("slackline_cache_objects", resource="poddisruptionbudgets") == 1

        self.cluster.wait(known, 20, "the budget to be counted and seen")

    def let_finish(self, prefix, count):
        """Tells each pod of that prefix that runs to end, until so many Jobs have succeeded, without a failure."""
        path = self.cluster.collection("pod", "default")
        patch = json.dumps({"metadata": {"annotations": {DURATION: "0s"}}})
        told = set()

        def all_done():
            running = {name_of(pod) for pod in self.pods() if phase_of(pod) == "Running"}
            new = sorted(name for name in running - told if name.startswith(prefix))
            told.update(new)
            requests = [("PATCH", f"{path}/{name}", patch) for name in new]
            send_all(self.cluster, requests, (200,), "application/merge-patch+json")
            jobs = [job for job in self.cluster.list("job", "default") if name_of(job).startswith(prefix)]
            failed = [name_of(job) for job in jobs if job["status"].get("failed")]
            self.assertEqual(failed, [])
            done = [job for job in jobs if job["status"].get("succeeded") == job["spec"]["completions"]]
            return len(done) == len(jobs) == count

        self.cluster.wait(all_done, 180, f"{count} Jobs {prefix} to finish")

    # ---- what is there; names without a namespace are of `default` ------------------------------

    def pods(self):
        return self.cluster.list("pod", "default")

    def bound(self, prefix):
        """How many pods of that prefix hold a node."""
        return sum(name_of(pod).startswith(prefix) for pod in bound_and_live(self.pods()))

    def plan(self, job):
        """The plan that a Job carries, or None."""
        found = self.cluster.get("job", "default", job)
        return json.loads(found["metadata"]["annotations"].get("slackline.dev/plan", "null"))

    def events(self, job):
        return [event for event in self.cluster.list("event", "default") if event["involvedObject"]["name"] == job]

    def queue(self):
        """The rows of the daemon's queue, by position; running tasks too."""
        return json.loads(self.daemon.get("/v1/queue")[1])["items"]

    def waiting(self):
        """{name: reason} of what waits, by position."""
        rows = self.queue()
        return {row["name"]: row.get("reason", "") for row in rows if row["state"] == "waiting"}

    def writes(self):
        """What the daemon changed of Jobs and pods, in order, as the API server recorded it; without forecasts."""
        return [
            event
            for event in self.cluster.audit()
            if event["user"]["username"] == DAEMON_USER
            and event["verb"] in ("patch", "update")
            and "fieldManager=slackline-forecast" not in event["requestURI"]
            and event["objectRef"]["resource"] in ("jobs", "pods")
            and event["responseStatus"]["code"] == 200
        ]

    def assert_nothing_left_over(self):
        for pod in self.pods():
            self.assertFalse(pod["spec"].get("schedulingGates"), name_of(pod))
            self.assertTrue(node_of(pod), name_of(pod))
        for job in self.cluster.list("job", "default"):
            self.assertFalse(job["spec"]["suspend"], name_of(job))
