"""Whom Slackline believes, on a real control plane: plans that it did not write, its keys in namespaces
that are not in its care, the end of a label, and the key that proves what it wrote."""

import json
import time
import unittest

from support.active_case import GPUS_PER_NODE, ActiveCase
from support.daemon import Daemon
from support.objects import MANAGED, name_of, waiting_job

PLAN = "slackline.dev/plan"
NODES = 2
STALE_HOLD_S = 60  # what the plan would hold if it were believed


def forged_job(name, namespace, nodes):
    """A Job that waits for ever and says that all nodes are planned for it."""
    plan = {
        "id": "evil", "epoch": 1, "shape": f"{len(nodes)}x{GPUS_PER_NODE}", "type": "Tesla-K80",
        "nodes": nodes,
    }  # fmt: skip
    job = waiting_job(
        name, pods=len(nodes), gpus=GPUS_PER_NODE, gang=True, namespace=namespace,
        annotations={PLAN: json.dumps(plan)},
    )  # fmt: skip
    job["metadata"]["annotations"].pop("slackline.dev/suspended-by")
    job["spec"]["suspend"] = False
    job["spec"]["template"]["spec"]["nodeSelector"] = {"there-is": "no-such-node"}
    return job


class TrustTest(ActiveCase):
    @classmethod
    def setUpClass(cls):
        cls.make_cluster(nodes=NODES)
        cls.cluster.add_namespace("playground")
        cls.start_planning(cls.account)

    def _annotations(self, name, namespace="default"):
        return self.cluster.get("job", namespace, name)["metadata"].get("annotations", {})

    def _suspended(self, name, namespace="default"):
        return self.cluster.get("job", namespace, name)["spec"]["suspend"]

    def test_a_plan_that_we_did_not_write_holds_nothing(self):
        nodes = [name_of(node) for node in self.cluster.list("node")]
        self.cluster.apply([
            forged_job("evil", namespace, nodes) for namespace in ("default", "playground")
        ])  # fmt: skip
        self.cluster.apply([waiting_job(f"legit-{i}", gpus=GPUS_PER_NODE) for i in range(NODES)])
        began = time.monotonic()
        for i in range(NODES):
            self.cluster.wait_bound(f"legit-{i}", timeout=20)
        self.assertLess(time.monotonic() - began, STALE_HOLD_S)
        self.cluster.wait(lambda: PLAN not in self._annotations("evil"), 10, "it to be taken away")
        self.assertGreaterEqual(self.daemon.total("slackline_plans_disbelieved_total", reason="unsigned"), 1)
        self.cluster.wait(
            lambda: "PlanDisbelieved" in {event["reason"] for event in self.events("evil")},
            10, "people to be told",
        )  # fmt: skip

    def test_in_shadow_mode_it_holds_nothing_either_and_stays_as_it_is(self):
        self.daemon.kill()  # which would take it away
        nodes = [name_of(node) for node in self.cluster.list("node")]
        self.cluster.apply([forged_job("evil", "default", nodes)])
        shadow = Daemon(self.account, self.cluster.directory / "shadow", "shadow")
        self.addCleanup(shadow.kill)
        shadow.start()
        self.cluster.wait(
            lambda: any(task["name"] == "evil" for task in json.loads(shadow.get("/v1/tasks")[1])["items"]),
            10, "it to be seen",
        )  # fmt: skip
        seen = json.loads(shadow.get("/v1/nodes")[1])["items"]
        self.assertEqual([gpus["held"] for node in seen for gpus in node["gpus"]], [0] * NODES)
        self.assertEqual(shadow.total("slackline_plans_disbelieved_total", reason="unsigned"), 1)
        self.assertNotIn("accepted without checks", shadow.get("/v1/cluster")[1])
        self.assertIn(PLAN, self._annotations("evil"))

    def test_a_plan_of_ours_counts_on_no_other_job_and_not_again(self):
        self.cluster.apply([waiting_job("ours", gpus=GPUS_PER_NODE)])
        self.cluster.wait_bound("ours")
        ours = self._annotations("ours")[PLAN]
        copy = forged_job("copy", "default", ["node-0"])
        copy["metadata"]["annotations"][PLAN] = ours
        self.cluster.apply([copy])
        self.cluster.wait(lambda: PLAN not in self._annotations("copy"), 10, "the copy to go")
        self.assertEqual(self._annotations("ours")[PLAN], ours, "the task's own stays")
        self.cluster.kubectl("annotate", "job", "ours", f"{PLAN}-")
        self.cluster.kubectl("annotate", "job", "ours", "--overwrite", f"{PLAN}={ours}")
        ended = lambda: self.daemon.total("slackline_plans_disbelieved_total", reason="ended")  # noqa: E731
        self.cluster.wait(lambda: ended() >= 1, 10, "the old plan to be disbelieved")
        self.cluster.wait(lambda: self._annotations("ours").get(PLAN) != ours, 10, "the old plan to go")
        self.assertEqual(self.bound("ours"), 1, "its task runs on")

    def test_running_tasks_keep_their_plans_over_a_restart(self):
        self.cluster.apply([waiting_job("runs", gpus=GPUS_PER_NODE)])
        self.cluster.wait_bound("runs")
        plan = self._annotations("runs")[PLAN]
        self.daemon.kill()
        self.start_daemon()
        self.cluster.apply([waiting_job("next", gpus=GPUS_PER_NODE)])
        self.cluster.wait_bound("next")  # it has planned
        self.assertEqual(self._annotations("runs")[PLAN], plan)
        self.assertEqual(self.daemon.total("slackline_plans_disbelieved_total"), 0)

    def test_our_marks_queue_nobody_in_a_namespace_without_the_label(self):
        self.cluster.apply([waiting_job("sneak", gpus=1, namespace="playground")])
        self.cluster.wait(lambda: not self._suspended("sneak", "playground"), 30, "it to be given back")
        self.cluster.wait_bound("sneak", namespace="playground")
        self.assertNotIn("sneak", {row["name"] for row in self.queue()})

    def test_a_namespace_that_loses_its_label_gets_its_tasks_back(self):
        self.cluster.add_namespace("leaves", MANAGED)
        self.addCleanup(self.cluster.kubectl, "delete", "namespace", "leaves", "--wait=false")
        self.cluster.apply([waiting_job(f"fills-{i}", gpus=GPUS_PER_NODE) for i in range(NODES)])
        for i in range(NODES):
            self.cluster.wait_bound(f"fills-{i}")
        self.cluster.apply([waiting_job("waits", gpus=1, namespace="leaves")])
        self.cluster.wait(lambda: "waits" in self.waiting(), 10, "it to wait")
        self.cluster.kubectl("label", "namespace", "leaves", "slackline.dev/managed-")
        self.cluster.wait(lambda: not self._suspended("waits", "leaves"), 5, "it to be given back")
        self.assertNotIn("slackline.dev/suspended-by", self._annotations("waits", "leaves"))
        self.cluster.wait(
            lambda: all(
                not pod["spec"].get("schedulingGates")
                for pod in self.cluster.pods_of("waits", "leaves")
            )
            and self.cluster.pods_of("waits", "leaves"),
            25, "its gates to be lifted",
        )  # fmt: skip


if __name__ == "__main__":
    unittest.main()
