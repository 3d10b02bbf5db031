"""What a policy that reserves keeps for a gang behind runs that Slackline did not start: on a real control plane."""

import unittest

from support.active_case import GPUS_PER_NODE, ActiveCase
from support.objects import gpu_pod, waiting_job

TOLD = "slackline.dev/expected-duration"


class ReserveTest(ActiveCase):
    policy = "reserve"

    @classmethod
    def setUpClass(cls):
        cls.make_cluster(nodes=2)
        cls.start_planning(cls.account)

    def _keeps_both_nodes(self, gpus, cores, of_gang):
        """For a gang of two, beside a pod of this size on one of them: a longer Job waits for it."""
        pod = gpu_pod("theirs", gpus=gpus, duration="15s", annotations={TOLD: "15s"})
        amounts = pod["spec"]["containers"][0]["resources"]
        amounts["requests"] = amounts["limits"] = {**amounts["limits"], "cpu": cores}
        self.cluster.apply([pod])
        self.cluster.wait(lambda: self.bound("theirs") == 1, 10, "the pod to be bound")
        short = {"deadline_after": "3m", "annotations": {TOLD: "20s"}, "duration": "8s"}
        self.cluster.apply([waiting_job("gang", pods=2, gpus=of_gang, gang=True, **short)])
        self.cluster.wait(lambda: self.waiting().get("gang") == "WaitsForRoom", 10, "the nodes to be kept")
        self.cluster.apply([
            waiting_job("long", gpus=GPUS_PER_NODE, deadline_after="2h", annotations={TOLD: "10m"}, duration="1s")
        ])  # fmt: skip
        self.cluster.wait(lambda: "long" in self.waiting(), 10, "the longer Job to be seen")
        self.cluster.wait_bound("gang", 2, timeout=40)
        self.assertIsNone(self.plan("long"), "it would have moved the gang by ten minutes")
        self.cluster.wait_bound("long", 1, timeout=30)

    def test_gpus_that_others_hold(self):
        self._keeps_both_nodes(gpus=GPUS_PER_NODE, cores="1", of_gang=GPUS_PER_NODE)

    def test_cores_that_others_hold(self):
        self._keeps_both_nodes(gpus=1, cores="64", of_gang=GPUS_PER_NODE - 1)


if __name__ == "__main__":
    unittest.main()
