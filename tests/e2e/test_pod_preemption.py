"""Pods without a Job make room through the Eviction API, and what replaces them waits in the queue: on a real
control plane.
"""

import time
import unittest

from support.active_case import GPUS_PER_NODE, ActiveCase
from support.objects import MANAGED, gpu_pod, name_of, node_of, waiting_job

NODES = 3
PROTECT_S = 5
LONG = {"slackline.dev/expected-duration": "10m"}
SOON = {"slackline.dev/expected-duration": "20s"}


class PodPreemptionTest(ActiveCase):
    policy = f"default,protect={PROTECT_S},headroom=0,calm=0"

    @classmethod
    def setUpClass(cls):
        cls.make_cluster(nodes=NODES)
        cls.start_planning(cls.account)

    # ---- words ----------------------------------------------------------------------------------

    def _fill(self):
        """A ReplicaSet of one pod on every node, since longer than it is protected."""
        self.addCleanup(self.cluster.delete_all, "replicaset", "default")
        self.cluster.apply([_replica_set(f"web-{i}") for i in range(NODES)])
        self.cluster.wait(lambda: self.bound("web") == NODES, 30, "the cluster to be full")
        self.cluster.wait_older(PROTECT_S)
        return {name_of(pod): pod["metadata"]["uid"] for pod in self.pods()}

    def _keep(self, *sets):
        """No pod of these may be disrupted. Gone with the test."""
        self.keep_undisrupted(
            {"matchExpressions": [{"key": "app", "operator": "In", "values": list(sets)}]}, maxUnavailable=0
        )

    @staticmethod
    def _soon(name, **shape):
        return waiting_job(name, deadline_after="60s", annotations=SOON, duration="2s", **shape)

    def _evicted(self):
        """The pods that the daemon has evicted, in order, as the API server recorded it."""
        return [
            event["objectRef"]["name"]
            for event in self.cluster.audit()
            if event.get("objectRef", {}).get("subresource") == "eviction" and event["responseStatus"]["code"] == 201
        ]

    def _finished(self, job):
        conditions = self.cluster.get("job", "default", job).get("status", {}).get("conditions", [])
        return any(each["type"] == "Complete" and each["status"] == "True" for each in conditions)

    # ---- tests ----------------------------------------------------------------------------------

    def test_a_replica_makes_room_and_its_replacement_comes_back(self):
        before = self._fill()
        earlier = len(self._evicted())
        self.cluster.apply([self._soon("soon", gpus=GPUS_PER_NODE)])
        self.cluster.wait_bound("soon", 1, timeout=10)
        evicted = self._evicted()[earlier:]
        self.assertEqual(len(evicted), 1)
        self.assertIn(evicted[0], before)
        self.cluster.wait(lambda: any(name.startswith("web") for name in self.waiting()), 10, "another pod to wait")
        self.cluster.wait(lambda: "Preempted" in {each["reason"] for each in self.events(evicted[0])}, 10, "the Event")
        self.cluster.wait(lambda: self._finished("soon"), 30, "the task to finish")
        self.cluster.wait(lambda: self.bound("web") == NODES, 30, "the replacement to run")
        self.assertEqual(len(self._evicted()) - earlier, 1)
        kept = {name: uid for name, uid in before.items() if name != evicted[0]}
        now = {name_of(pod): pod["metadata"]["uid"] for pod in self.pods()}
        self.assertLessEqual(kept.items(), now.items(), "the others went on")
        self.assertGreater(self.daemon.total("slackline_preemptions_total", reason="Preempted"), 0)

    def test_a_disruption_budget_makes_another_pod_the_victim(self):
        self._fill()
        earlier = len(self._evicted())
        self._keep("web-0", "web-2")
        self.cluster.apply([self._soon("soon", gpus=GPUS_PER_NODE)])
        self.cluster.wait_bound("soon", 1, timeout=10)
        (evicted,) = self._evicted()[earlier:]
        self.assertTrue(evicted.startswith("web-1-"), evicted)

    def test_where_budgets_forbid_every_eviction_the_task_waits(self):
        self._fill()
        earlier = len(self._evicted())
        self._keep(*(f"web-{i}" for i in range(NODES)))
        self.cluster.apply([self._soon("soon", gpus=GPUS_PER_NODE)])
        self.cluster.wait(lambda: self.waiting().get("soon") == "WaitsItsTurn", 10, "it to wait its turn")
        time.sleep(3)  # in which nothing may happen
        self.assertEqual(len(self._evicted()), earlier)
        self.assertEqual(self.bound("web"), NODES)

    def test_killed_in_the_middle_of_evictions_nobody_is_evicted_twice(self):
        before = self._fill()
        earlier = len(self._evicted())
        self.cluster.apply([self._soon("gang", pods=NODES, gpus=GPUS_PER_NODE, gang=True)])
        for _ in range(3):
            self.cluster.wait(lambda: len(self._evicted()) > earlier or self.bound("gang"), 15, "the first eviction")
            self.daemon.kill()
            self.daemon.start()
        self.cluster.wait_bound("gang", NODES, timeout=60)
        self.assertEqual(sorted(self._evicted()[earlier:]), sorted(before))
        self.cluster.wait(lambda: self._finished("gang"), 60, "the gang to finish")
        self.cluster.wait(lambda: self.bound("web") == NODES, 60, "the replacements to run")
        nodes = [node_of(pod) for pod in self.pods() if name_of(pod).startswith("web")]
        self.assertEqual(len(set(nodes)), NODES)


def _replica_set(name):
    """One pod of a whole node, as the webhook leaves it."""
    pod = gpu_pod(name, GPUS_PER_NODE, annotations=LONG)
    labels = {"app": name, **MANAGED}
    spec = {**pod["spec"], "restartPolicy": "Always", "schedulingGates": [{"name": "slackline.dev/queue"}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": labels, "annotations": pod["metadata"]["annotations"]},
                "spec": spec,
            },
        },
    }


if __name__ == "__main__":
    unittest.main()
