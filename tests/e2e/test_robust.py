"""What may happen to a release on its way, on a real control plane: the planner dies after each of its
writes, nodes are lost, quotas and policies refuse pods, the network is cut, everybody is gone.

ROBUST=long kills the planner after every write of releases of 1 to 4 pods (`make nightly`).
"""

import datetime
import json
import os
import signal
import subprocess
import time
import unittest

from support.active_case import GPU_TYPE, GPUS_PER_NODE, ActiveCase
from support.api_proxy import ApiProxy
from support.controlplane import stock_scheduler_config
from support.daemon import slackline, slackline_binary
from support.objects import (
    GPU,
    MANAGED,
    denying_policy,
    gpu_node,
    gpu_pod,
    gpus_by_node,
    name_of,
    node_of,
    waiting_job,
)  # fmt: skip
from support.patience import patient

# (pods, after how many writes) of a release of 1 + 2 * pods: the release itself, a nomination of each pod, a lift of each.
# In short one of each stage: after the release, amid the nominations, amid the lifts. Each costs the 15 s of a dead Lease.
DEATHS = [(3, 1), (3, 3), (3, 6)]
if os.environ.get("ROBUST") == "long":
    DEATHS = [(pods, deadly) for pods in (1, 2, 3, 4) for deadly in range(1, 2 + 2 * pods)]
STALE_HOLD_S = 60  # no GPU idles longer for a hold that nobody carries out


class RobustCase(ActiveCase):
    """The planner reaches the API server through a proxy."""

    @classmethod
    def setUpClass(cls):
        cls.make_cluster(nodes=4)
        cls.proxy = ApiProxy(cls.cluster)
        cls.addClassCleanup(cls.proxy.close)
        cls.start_planning(cls.proxy.kubeconfig(cls.account))

    # ---- words the tests are written in --------------------------------------------------------

    def _ready(self, daemon):
        return daemon.get("/readyz", port=daemon.metrics_port)[0] == 200

    def _writes_of_job(self, job):
        return [
            event for event in self.writes()
            if (event["objectRef"]["resource"], event["objectRef"]["name"]) == ("jobs", job)
        ]  # fmt: skip

    def _journal(self, verb, name, namespace="default"):
        """The reasons in the rows of the decision journal, newest first."""
        path = f"/v1/decisions?verb={verb}&pod={namespace}/{name}"
        rows = json.loads(self.daemon.get(path)[1])["items"]
        return [sorted(row.get("reasons") or {}) for row in rows]

    def _wait_journalled(self, verb, reason, name, namespace="default"):
        self.cluster.wait(lambda: [reason] in self._journal(verb, name, namespace), 10, f"{verb} of {name}")

    def _event_reasons(self, namespace):
        return {event["reason"] for event in self.cluster.list("event", namespace)}

    def _lifted(self, job):
        pods = self.cluster.pods_of(job)
        return pods and all(not pod["spec"].get("schedulingGates") for pod in pods)


class KilledTest(RobustCase):
    """The planner dies."""

    def test_killed_after_any_write_of_a_release_the_next_life_completes_it(self):
        for pods, deadly in DEATHS:
            with self.subTest(pods=pods, deadly=deadly):
                self._die_after(deadly, f"dies-{pods}-{deadly}", pods)

    def _die_after(self, deadly, job, pods):
        before = len(self.proxy.writes)
        self.proxy.after_write(deadly, self.daemon.kill)
        self.cluster.apply([waiting_job(job, pods=pods, gpus=4, gang=pods > 1)])
        try:
            self.cluster.wait(lambda: not self.daemon.process.alive(), 30, "the planner to die")
            self.assertEqual(len(self.proxy.writes) - before, deadly)
            lifted = [pod for pod in self.cluster.pods_of(job) if not pod["spec"].get("schedulingGates")]
            self.assertEqual(len(lifted), max(0, deadly - 1 - pods), "gates are lifted last")
        finally:
            self.proxy.let_live()
        began = time.monotonic()
        self.start_daemon()
        self.cluster.wait_bound(job, pods, STALE_HOLD_S)
        self.assertLess(time.monotonic() - began, STALE_HOLD_S)
        self.assert_nothing_left_over()
        self.assertEqual(sum(gpus_by_node(self.pods()).values()), 4 * pods)
        self.clean_up()


class RobustTest(RobustCase):
    # ---- nodes ---------------------------------------------------------------------------------

    def test_a_node_deleted_not_ready_or_tainted_between_plan_and_bind_is_replaced(self):
        self.cluster.apply([gpu_pod(f"busy-{i}", gpus=4) for i in range(2)])
        self.cluster.wait(lambda: len(gpus_by_node(self.pods())) == 2, 30, "two full nodes")
        self.addCleanup(self.restart_scheduler)
        for lose in (self._delete_node, self._stop_kubelet, self._taint_node):
            with self.subTest(lose.__name__):
                self.cluster.kill("kube-scheduler")
                job = f"mover{lose.__name__.replace('_', '-')}"
                self.cluster.apply([waiting_job(job, gpus=4)])
                self.cluster.wait(lambda job=job: self.plan(job), 20, "it to be planned")
                (lost,) = self.plan(job)["nodes"]
                bring_back = lose(lost)
                self.cluster.wait(
                    lambda job=job, lost=lost: self.plan(job)["nodes"] not in ([], [lost]),
                    60, "another plan",
                )  # fmt: skip
                self.restart_scheduler()
                (pod,) = self.cluster.wait_bound(job, 1, 60)
                self.assertNotEqual(node_of(pod), lost)
                self.assertEqual([node_of(pod)], self.plan(job)["nodes"])
                self._wait_journalled("move", "NodesLost", job)
                self.assertEqual(self._journal("plan", job), [[]], "one planned start")
                bring_back()
                self.cluster.kubectl("delete", "job", job)
                self.cluster.wait(lambda job=job: not self.cluster.pods_of(job), 30, "its pods to go")

    def _delete_node(self, node):
        self.cluster.kubectl("delete", "node", node)
        return lambda: self._wait_ready(node, lambda: self.cluster.apply(
            [gpu_node(node, GPUS_PER_NODE, GPU_TYPE)]))  # fmt: skip

    def _stop_kubelet(self, node):
        self.cluster.kubectl("label", "node", node, "type-")  # KWOK looks after it no longer
        down = {"type": "Ready", "status": "False", "reason": "KubeletNotReady"}
        patch = json.dumps({"status": {"conditions": [down]}})
        self.cluster.kubectl("patch", "node", node, "--subresource=status", "-p", patch)
        return lambda: self._wait_ready(node, lambda: self.cluster.kubectl("label", "node", node, "type=kwok"))

    def _taint_node(self, node):
        taint = "ToBeDeletedByClusterAutoscaler"
        self.cluster.kubectl("taint", "node", node, f"{taint}=1:NoSchedule")
        return lambda: self.cluster.kubectl("taint", "node", node, f"{taint}-")

    def _wait_ready(self, node, bring_back):
        bring_back()

        def ready():
            found = self.cluster.get("node", None, node)
            conditions = found["status"].get("conditions", [])
            healthy = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
            return healthy and not found["spec"].get("taints")

        self.cluster.wait(ready, 60, f"{node} to be ready")

    # ---- pods that are refused -----------------------------------------------------------------

    def test_quotas_are_planned_against(self):
        self.cluster.add_namespace("team", MANAGED)
        self.cluster.apply([quota("team", "gpus", {f"requests.{GPU}": "4"})])
        jobs = [("team", "a-one"), ("team", "b-two"), ("default", "c-free")]
        stated = {"slackline.dev/expected-duration": "30m"}
        self.cluster.apply([waiting_job(name, gpus=4, namespace=ns, annotations=stated) for ns, name in jobs])
        self.cluster.apply([waiting_job("d-huge", gpus=4, pods=2, gang=True, namespace="team", annotations=stated)])
        self.cluster.wait_bound("a-one", 1, namespace="team")
        self.cluster.wait_bound("c-free", 1)
        kept = {"b-two": "QuotaExceeded", "d-huge": "QuotaExceeded"}
        self.cluster.wait(lambda: self.waiting() == kept, 10, "both to be told why")
        self._assert_room_is_foreseen()
        self.assertTrue(self.cluster.get("job", "team", "b-two")["spec"]["suspend"])
        self.cluster.kubectl("delete", "job", "a-one", "-n", "team")
        self.cluster.wait_bound("b-two", 1, namespace="team")
        self.assertNotIn("FailedCreate", self._event_reasons("team"), "nothing was even tried")

    def _assert_room_is_foreseen(self):
        """b-two starts when a-one has ended, and d-huge asks for more than there is."""
        rows = {row["name"]: row for row in self.queue()}
        ends, starts = (
            datetime.datetime.fromisoformat(rows[name][at])
            for name, at in (("a-one", "predictedFinish"), ("b-two", "predictedStart"))
        )
        self.assertLess(abs(starts - ends), datetime.timedelta(minutes=1), rows["b-two"])
        self.assertTrue(rows["d-huge"]["blocked"], rows["d-huge"])
        self.assertRegex(self._why("b-two"), r"needs 4, has 0, 4 short; until .*\n +4 GPUs of team/a-one end ")
        self.assertIn("the quota allows 4 in all", self._why("d-huge"))

    def _why(self, task):
        command = [slackline_binary(), "why", task, "-n", "team", "-s", self.daemon.api_url]
        return subprocess.run(command, text=True, capture_output=True, check=False).stdout

    def test_a_gang_that_is_cut_short_is_suspended_again_and_starts_later(self):
        for namespace in ("quota", "policy"):
            self.cluster.add_namespace(namespace, MANAGED)
        refuse_the_third_pod = admission_policy("policy")
        self.cluster.apply(refuse_the_third_pod)
        third = gpu_pod("probe", namespace="policy")
        third["metadata"]["labels"] = {"batch.kubernetes.io/job-completion-index": "2"}
        self._wait_refused(third, 422)
        self._release_before_any_pod_exists([
            waiting_job("gang", pods=4, gpus=1, gang=True, namespace=namespace)
            for namespace in ("quota", "policy")
        ])  # fmt: skip
        self._enforce_quota("quota", "late", {"pods": "2"})  # nobody could foresee it
        self.cluster.parts["kube-controller-manager"].start()
        for namespace in ("quota", "policy"):
            self.cluster.wait(
                lambda ns=namespace: 0 < len(self.cluster.pods_of("gang", ns)) < 4,
                25, "some of its pods",
            )  # fmt: skip
        for namespace, reason in (("quota", "QuotaExceeded"), ("policy", "PodsRejected")):
            self.cluster.wait(
                lambda ns=namespace: self.cluster.get("job", ns, "gang")["spec"]["suspend"],
                45, f"the gang of {namespace} to be suspended again",
            )  # fmt: skip
            self.cluster.wait(lambda ns=namespace, why=reason: why in self._event_reasons(ns), 10, reason)
            self._wait_journalled("suspend", reason, "gang", namespace)
        touched = [
            event for event in self.writes()
            if event["objectRef"]["resource"] == "pods"
            and event["objectRef"]["namespace"] in ("quota", "policy")
        ]  # fmt: skip
        self.assertEqual(touched, [], "pods of an incomplete gang")
        self.cluster.kubectl("delete", "resourcequota", "late", "-n", "quota")
        for each in refuse_the_third_pod:
            self.cluster.kubectl("delete", each["kind"].lower(), each["metadata"]["name"])
        for namespace in ("quota", "policy"):
            self.cluster.wait_bound("gang", 4, 90, namespace)

    def _release_before_any_pod_exists(self, jobs):
        """Jobs are released while no controller makes pods; it is to be started again."""
        os.kill(self.daemon.process.pid, signal.SIGSTOP)
        try:
            self.cluster.apply(jobs)
            self.cluster.wait(lambda: all(map(self._halted, jobs)), 8, "the Jobs to be halted")
            self.cluster.kill("kube-controller-manager")
            self.addCleanup(self._restart_controllers)
        finally:
            os.kill(self.daemon.process.pid, signal.SIGCONT)
        self.cluster.wait(lambda: not any(map(self._suspended, jobs)), 20, "the releases")

    def _restart_controllers(self):
        if not self.cluster.parts["kube-controller-manager"].alive():
            self.cluster.parts["kube-controller-manager"].start()

    def _halted(self, job):
        conditions = self._read(job)["status"].get("conditions", [])
        return any(each["type"] == "Suspended" for each in conditions)

    def _suspended(self, job):
        return self._read(job)["spec"]["suspend"]

    def _read(self, job):
        return self.cluster.get("job", job["metadata"]["namespace"], name_of(job))

    def _enforce_quota(self, namespace, name, hard):
        """Makes a quota that refuses from its first moment, while no controller counts for it.

        The API server looks only at a quota's status, in a cache of its own: pods made before that
        is written and seen would all pass.
        """
        hard = {**hard, f"requests.{GPU}": "100"}
        self.cluster.apply([quota(namespace, name, hard)])
        status = {"status": {"hard": hard, "used": dict.fromkeys(hard, "0")}}
        self.cluster.kubectl(
            "patch", "resourcequota", name, "-n", namespace, "--subresource=status",
            "--type=merge", "-p", json.dumps(status),
        )  # fmt: skip
        self._wait_refused(gpu_pod("probe", gpus=101, namespace=namespace), 403)

    def _wait_refused(self, pod, status):
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods?dryRun=All"
        self.cluster.wait(lambda: self.cluster.request("POST", path, pod)[0] == status, 30, "a pod to be refused")

    # ---- partition, and nobody left ------------------------------------------------------------

    def test_a_leader_cut_off_stops_planning_before_another_begins(self):
        other = self.replica("b", self.account).start()
        self.addCleanup(other.kill)
        self.proxy.cut()
        cut = time.monotonic()
        self.addCleanup(self.proxy.heal)
        self.cluster.apply([waiting_job("during", gpus=4)])
        taken_over = None
        # From there on the other leads, and the old one's ten seconds are over.
        while taken_over is None or time.monotonic() - cut < taken_over + 3:
            self.assertLess(time.monotonic() - cut, patient(30), "nobody has taken over")
            # The one that should have stopped is asked last.
            leads = other.total("slackline_leader"), self.daemon.total("slackline_leader")
            self.assertLess(sum(leads), 2, "two replicas plan")
            if leads[0] and taken_over is None:
                taken_over = time.monotonic() - cut
            time.sleep(0.1)
        self.assertLess(taken_over, patient(20))
        self.cluster.wait_bound("during", 1)
        written = len(self.proxy.writes)
        self.proxy.heal()
        self.cluster.apply([waiting_job("after", gpus=4)])
        self.cluster.wait_bound("after", 1)
        self.cluster.wait(lambda: self._ready(self.daemon), 60, "the old leader to recover")
        time.sleep(3)  # in which nothing may happen
        self.assertEqual(self.proxy.writes[written:], [], "the old leader wrote after its term")
        self.assertEqual(self.daemon.total("slackline_leader"), 0)
        for job in ("during", "after"):
            self.assertEqual(len(self._writes_of_job(job)), 1, f"releases of {job}")
        other.stop()
        self.cluster.apply([waiting_job("again", gpus=4)])
        self.cluster.wait_bound("again", 1, 40)

    def test_after_release_nothing_of_ours_is_in_the_way(self):
        self.cluster.apply([gpu_pod(f"wall-{i}", gpus=4) for i in range(3)])
        self.cluster.wait(lambda: len(gpus_by_node(self.pods())) == 3, 30, "three full nodes")
        self.cluster.kill("kube-scheduler")
        self.addCleanup(self.restart_scheduler)
        self.cluster.apply([waiting_job("halfway", gpus=4)])
        self.cluster.wait(lambda: self._lifted("halfway"), 30, "halfway to be handed over")
        self.cluster.apply([
            waiting_job("held", gpus=2),
            waiting_job("pair", pods=2, gpus=2, gang=True),
            shaped_job("shaped"),
            gated_pod("bare"),
        ])  # fmt: skip
        self.cluster.wait(lambda: len(self.waiting()) == 4, 20, "all others to wait")
        command = ["release", "--kubeconfig", self.account, "--if-lease-older-than"]
        self.assertIn("a planner is running", slackline(*command, "5m"))
        self.assertTrue(self.cluster.get("job", "default", "held")["spec"]["suspend"])
        self.daemon.kill()
        time.sleep(2)  # so old is the Lease then, at least; below it must be older than a second
        self.assertIn("released 4 Jobs and 5 pods", slackline(*command, "1s"))
        self._assert_free_of_us()
        self.assertIn("released 0 Jobs and 0 pods", slackline("release", "--kubeconfig", self.account))
        # The stock scheduler, without Slackline, runs them all.
        self.cluster.start_scheduler(stock_scheduler_config(self.cluster))
        self.cluster.kubectl("delete", "pods", "wall-0", "wall-1", "wall-2", "--grace-period=0")
        self.cluster.wait(lambda: all(map(node_of, self.pods())), 60, "all pods to be bound")
        self.assertEqual(len(self.pods()), 6)
        # A fresh installation finds nothing to do.
        written = len(self.writes())
        self.start_daemon()
        time.sleep(5)  # in which nothing may happen
        self.assertEqual(self.writes()[written:], [])

    def _assert_free_of_us(self):
        for job in self.cluster.list("job", "default"):
            self.assertFalse(job["spec"]["suspend"], name_of(job))
            for key in ("suspended-by", "plan", "original"):
                self.assertNotIn(f"slackline.dev/{key}", job["metadata"]["annotations"])
            affinity = job["spec"]["template"]["spec"].get("affinity", {})
            pinned = affinity.get("nodeAffinity", {}).keys()
            self.assertNotIn("requiredDuringSchedulingIgnoredDuringExecution", pinned)
        for pod in self.pods():
            self.assertFalse(pod["spec"].get("schedulingGates"), name_of(pod))
            self.assertNotIn("slackline.dev/plan", pod["metadata"].get("annotations", {}))
            if not name_of(pod).startswith("halfway"):  # ungated: kube-scheduler's own by now
                self.assertFalse(pod["status"].get("nominatedNodeName"), name_of(pod))


def quota(namespace, name, hard):
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"hard": hard},
    }


def admission_policy(namespace):
    """A policy of somebody else that refuses the third pod of every Indexed Job there."""
    index = "object.metadata.?labels[?'batch.kubernetes.io/job-completion-index'].orValue('')"
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    return denying_policy("no-third-pod", rule, f"{index} != '2'", "no third pod", namespace)


def shaped_job(name):
    """A Job that was suspended again: its template is still pinned to the type we chose then."""
    pinned = [{"key": "nvidia.com/gpu.product", "operator": "In", "values": [GPU_TYPE]}]
    job = waiting_job(name, gpus=1, annotations={"slackline.dev/original": '{"affinity":[]}'})
    job["spec"]["template"]["spec"]["affinity"] = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": pinned}]}
        }
    }
    return job


def gated_pod(name):
    """A pod without a Job, as the webhook leaves it."""
    pod = gpu_pod(name, gpus=1)
    pod["metadata"]["labels"] = {"slackline.dev/managed": "true"}
    pod["spec"]["schedulingGates"] = [{"name": "slackline.dev/queue"}]
    return pod


if __name__ == "__main__":
    unittest.main()
