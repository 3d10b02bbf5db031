"""What tests of the queue as its users meet it share: a cluster with Slackline installed as its
manifests say, webhook included, two namespaces, and words about them."""

import json
import os
import unittest

from support.active import start_active
from support.controlplane import ControlPlane
from support.objects import TEAM

OTHERS = "others"  # a namespace that Slackline does not look after


class QueuedCase(unittest.TestCase):
    """A cluster for each class, clean for each test."""

    nodes = 1
    gpus_per_node = 1  # K80s
    settings = ""  # further keys of the daemon's configuration

    @classmethod
    def setUpClass(cls):
        cls.cluster = ControlPlane()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.add_gpu_nodes(cls.nodes, cls.gpus_per_node, "K80", prefix="k80")
        cls.cluster.add_namespace(OTHERS)
        cls.daemon = start_active(cls.cluster, TEAM, settings=cls.settings)
        cls.written = cls.daemon.config.read_text()

    def setUp(self):
        self.addCleanup(self.clean)

    def clean(self):
        for namespace in (TEAM, OTHERS):
            self.cluster.delete_all("job", namespace)
            self.cluster.delete_all("pod", namespace)

    def apply(self, *objects):
        self.cluster.apply(list(objects))

    def job(self, name):
        return self.cluster.get("job", TEAM, name)

    def rows(self):
        """Of the queue, by name."""
        return {row["name"]: row for row in json.loads(self.daemon.get("/v1/queue")[1])["items"]}

    def history(self):
        return {row["name"]: row for row in json.loads(self.daemon.get("/v1/history")[1])["items"]}

    def wait_reason(self, name, reason):
        self.cluster.wait(lambda: self.rows().get(name, {}).get("reason") == reason, 30, f"{name} to wait: {reason}")

    def change_file(self, text):
        """As kubectl and editors do: beside it, then renamed over it."""
        beside = self.daemon.config.with_suffix(".new")
        beside.write_text(text)
        os.replace(beside, self.daemon.config)

    def wait_reloads(self, result, least):
        self.cluster.wait(
            lambda: self.daemon.total("slackline_config_reloads_total", result=result) >= least,
            20, f"{least} {result}",
        )  # fmt: skip
