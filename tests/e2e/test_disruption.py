"""Jobs whose pods others take away come back: on a real control plane."""

import json
import time
import unittest

from support.active_case import GPU_TYPE, GPUS_PER_NODE, ActiveCase
from support.daemon import slackline
from support.objects import MANAGED, gpu_pod, name_of, node_of, priority_class, waiting_job

NODES = 3
NODE_DOWN_AFTER_S = 60
NOTES = {"slackline.dev/expected-duration": "10m", "slackline.dev/checkpoint-interval": "1s"}
# As the webhook adds it.
IGNORE_DISRUPTIONS = {
    "backoffLimit": 0,
    "podReplacementPolicy": "Failed",
    "podFailurePolicy": {
        "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
    },
}


class DisruptionTest(ActiveCase):
    policy = "savable,headroom=0,calm=0"

    @classmethod
    def setUpClass(cls):
        cls.make_cluster(nodes=NODES)
        cls.start_planning(cls.account)

    def test_stock_preemption_brings_its_victim_back(self):
        self._run("long", pods=NODES, duration="8s")
        self.cluster.apply([priority_class("vip", 1000)])
        self.cluster.apply([gpu_pod("vip", GPUS_PER_NODE, duration="3s", priority_class="vip")])
        self._expect_back("long", "PreemptionByScheduler", pods=NODES)

    def test_an_eviction_brings_the_job_back(self):
        self._run("one", duration="6s")
        self._evict(name_of(self.cluster.pods_of("one")[0]))
        self._expect_back("one", "EvictionByEvictionAPI")
        self.assertIn("stopped after EvictionByEvictionAPI",
                      slackline("decisions", "--verb", "suspend", "-s", self.daemon.api_url))  # fmt: skip
        self.assertGreater(self.daemon.total("slackline_preemptions_total", reason="EvictionByEvictionAPI"), 0)

    def test_a_gang_that_is_drained_from_one_node_comes_back_as_a_whole(self):
        self._run("gang", pods=2, gang=True, duration="6s")
        uids = lambda: {pod["metadata"]["uid"] for pod in self.cluster.pods_of("gang")}  # noqa: E731
        before = uids()
        node = node_of(self.cluster.pods_of("gang")[0])
        self.addCleanup(self.cluster.kubectl, "uncordon", node)
        self.cluster.kubectl("drain", node, "--timeout=30s")
        self.cluster.wait(lambda: self._note("gang"), 10, "the gang to be stopped")
        self.cluster.wait(lambda: not before & uids(), 10, "its pods to end")
        pods = self.cluster.wait_bound("gang", 2)
        self.assertNotIn(node, {node_of(pod) for pod in pods})
        self._expect_back("gang", "EvictionByEvictionAPI", pods=2)

    def test_killed_after_an_eviction_the_next_life_counts_it_once(self):
        self._run("gang", pods=2, gang=True, duration="12s", grace_s=3)
        self.daemon.kill()
        self._evict(name_of(self.cluster.pods_of("gang")[0]))
        self.daemon.start()
        self.cluster.wait(lambda: self._note("gang"), 20, "the gang to be stopped")
        self.daemon.kill()
        self.daemon.start()
        self._expect_back("gang", "EvictionByEvictionAPI", pods=2)

    def test_a_node_that_is_deleted_sends_its_job_back(self):
        self._run("spot", duration="6s", spec={})
        node = node_of(self.cluster.pods_of("spot")[0])
        self.addCleanup(self.cluster.add_gpu_nodes, NODES, GPUS_PER_NODE, GPU_TYPE)
        self.cluster.kubectl("delete", "node", node, "--wait=false")
        self._expect_back("spot", "NodeGone")

    def test_a_node_that_is_not_ready_for_a_minute_sends_its_job_back(self):
        self._run("dark", duration="15s")
        node = node_of(self.cluster.pods_of("dark")[0])
        self._lose_kubelet(node, since_s=time.time() - NODE_DOWN_AFTER_S + 12)
        time.sleep(3)  # in which nothing may happen
        self.assertEqual(self._stopped(), [], "stopped before its minute was over")
        self.cluster.wait(self._stopped, 20, "the Job to be stopped")
        self.assertEqual(self._note("dark")["left"], 1, "nothing counts that it did after its node was lost")
        self._find_kubelet(node)  # which ends the pod
        self._expect_back("dark", "NodeNotReady", keeps=False)

    def test_a_pod_that_its_node_refuses_sends_its_job_back(self):
        # The Job controller counts such a pod as a failure, whatever a podFailurePolicy says of disruptions.
        self._run("refused", duration="6s", spec={"backoffLimit": 1})
        pod = name_of(self.cluster.pods_of("refused")[0])
        rejected = {"phase": "Failed", "reason": "UnexpectedAdmissionError", "message": "no healthy devices present"}
        status, reply = self.cluster.request(
            "PATCH", f"/api/v1/namespaces/default/pods/{pod}/status", {"status": rejected}
        )
        self.assertEqual(status, 200, reply)
        self._expect_back("refused", "UnexpectedAdmissionError", keeps=False)

    def test_a_stopped_job_is_in_the_queue_while_its_pods_end(self):
        self._run("slow", pods=2, gang=True, duration="6s", grace_s=4)
        self._evict(name_of(self.cluster.pods_of("slow")[0]))
        self.cluster.wait(lambda: self.waiting().get("slow") == "PodsEnding", 10, "it to wait for its pods")
        self._expect_back("slow", "EvictionByEvictionAPI", pods=2)

    def test_who_waits_goes_where_no_pods_have_to_end_before(self):
        self._run("slow", pods=2, gang=True, duration="6s", grace_s=20)
        its_nodes = {node_of(pod) for pod in self.cluster.pods_of("slow")}
        self._evict(name_of(self.cluster.pods_of("slow")[0]))
        self.cluster.wait(lambda: self.waiting().get("slow") == "PodsEnding", 10, "it to wait for its pods")
        self.cluster.apply([waiting_job("other", gpus=GPUS_PER_NODE, annotations=NOTES, duration="1s")])
        (pod,) = self.cluster.wait_bound("other", 1, timeout=8)
        self.assertNotIn(node_of(pod), its_nodes)

    def test_a_gang_that_will_fail_leaves_its_nodes_to_others(self):
        """Its Job is Failed once the last pod has ended, and says before that it will be (FailureTarget)."""
        self._run("fails", pods=2, gang=True, duration="600s", grace_s=20, spec={"backoffLimit": 0})
        pod = self.cluster.pods_of("fails")[0]
        path = f"/api/v1/namespaces/default/pods/{name_of(pod)}/status"
        self.assertEqual(self.cluster.request("PATCH", path, {"status": {"phase": "Failed"}})[0], 200)
        self.cluster.apply([waiting_job("other", gpus=GPUS_PER_NODE, annotations=NOTES, duration="1s")])
        self.cluster.wait_bound("other", 1, timeout=8)
        self.cluster.apply([waiting_job("next", gpus=GPUS_PER_NODE, annotations=NOTES, duration="1s")])
        self.cluster.wait_bound("next", 1, timeout=8)
        self.assertEqual(self._stopped(), [])
        self.assertNotIn("fails", {row["name"] for row in self.queue()})

    def test_a_pod_that_fails_by_itself_is_not_stopped(self):
        self._run("crash", duration="3s", spec={"backoffLimit": 1})
        pod = name_of(self.cluster.pods_of("crash")[0])
        status, reply = self.cluster.request(
            "PATCH", f"/api/v1/namespaces/default/pods/{pod}/status", {"status": {"phase": "Failed"}}
        )
        self.assertEqual(status, 200, reply)
        self.cluster.wait(lambda: self._finished("crash"), 30, "its second pod to succeed")
        self.assertIsNone(self._note("crash"))

    def test_a_bare_pod_is_told_that_it_cannot_come_back(self):
        pod = gpu_pod("alone", 1)
        pod["metadata"]["labels"] = MANAGED
        self.cluster.apply([pod])
        self.cluster.wait(lambda: self.bound("alone"), 20, "the pod to run")
        self._evict("alone")
        reasons = lambda: {event["reason"] for event in self.events("alone")}  # noqa: E731
        self.cluster.wait(lambda: "CannotComeBack" in reasons(), 10, "the Event")

    # ---- words ----------------------------------------------------------------------------------

    def _run(self, name, pods=1, gang=False, duration="6s", grace_s=1, spec=None):
        """Jobs of whole nodes: a gang, else one Job for each pod; each fails with its first failure."""
        names = [name] if gang or pods == 1 else [f"{name}-{i}" for i in range(pods)]
        for each in names:
            job = waiting_job(each, pods if gang else 1, GPUS_PER_NODE, gang=gang, duration=duration, annotations=NOTES)
            job["spec"].update(IGNORE_DISRUPTIONS if spec is None else spec)
            job["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = grace_s
            self.cluster.apply([job])
        self.cluster.wait(lambda: self.bound(name) == pods, 30, f"{name} to run")
        time.sleep(2.5)  # more than one checkpoint, in times of whole seconds

    def _evict(self, pod):
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": "default"}}
        status, reply = self.cluster.request("POST", f"/api/v1/namespaces/default/pods/{pod}/eviction", body)
        self.assertEqual(status, 201, reply)

    def _lose_kubelet(self, node, since_s):
        """The node has not been ready since then; KWOK looks after it no longer."""
        self.addCleanup(self._find_kubelet, node)
        self.cluster.kubectl("label", "node", node, "type-")
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(since_s))
        down = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "lastTransitionTime": since}
        patch = json.dumps({"status": {"conditions": [down]}})
        self.cluster.kubectl("patch", "node", node, "--subresource=status", "-p", patch)

    def _find_kubelet(self, node):
        self.cluster.kubectl("label", "node", node, "type=kwok", "--overwrite")

        def ready():
            found = self.cluster.get("node", None, node)
            conditions = found["status"].get("conditions", [])
            healthy = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
            return healthy and not found["spec"].get("taints")

        self.cluster.wait(ready, 60, f"{node} to be ready")

    def _expect_back(self, prefix, by, pods=1, keeps=True):
        """Of the Jobs of that prefix one was stopped, once, and all succeed without a failure."""
        self.cluster.wait(lambda: self._stopped(), 15, "the Job to be stopped")
        (stopped,) = self._stopped()
        self.cluster.wait(lambda: "Rescheduled" in {e["reason"] for e in self.events(stopped)}, 10, "the Event")
        jobs = [name_of(job) for job in self.cluster.list("job", "default") if name_of(job).startswith(prefix)]
        for job in jobs:
            self.cluster.wait(lambda job=job: self._finished(job), 60, f"{job} to finish")
        self.assertEqual(self._stopped(), [stopped])
        note = self._note(stopped)
        self.assertEqual((note["count"], note["disruptions"], note["by"]), (1, 1, by))
        if keeps:
            self.assertLess(note["left"], 1)

    def _note(self, job):
        found = self.cluster.get("job", "default", job)
        return json.loads(found["metadata"]["annotations"].get("slackline.dev/preemptions", "null"))

    def _stopped(self):
        return [name_of(job) for job in self.cluster.list("job", "default") if self._note(name_of(job))]

    def _finished(self, job):
        conditions = self.cluster.get("job", "default", job).get("status", {}).get("conditions", [])
        failed = [each for each in conditions if each["type"] == "Failed" and each["status"] == "True"]
        self.assertFalse(failed, f"{job} failed")
        return any(each["type"] == "Complete" and each["status"] == "True" for each in conditions)


if __name__ == "__main__":
    unittest.main()
