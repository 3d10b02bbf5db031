"""Kueue beside Slackline in one managed namespace, on a real cluster: the kinds are Kueue's own definitions, and the test
does to objects what Kueue does (it suspends, admits and resumes them, and gates pods)."""

import json
import subprocess
import time
import unittest

from test_gangs import KINDS, KUEUE, create, define, reference_to

from support.controlplane import stock_scheduler_config
from support.daemon import slackline_binary
from support.objects import TEAM, gpu_job, gpu_pod, name_of, node_of
from support.queued_case import QueuedCase

QUEUE = {"kueue.x-k8s.io/queue-name": "main"}
ADMISSION = "kueue.x-k8s.io/admission"
FLAVOR = "k80"
# What Kueue writes on the pods of an object that it has admitted: its own label for people is not among them.
ON_PODS = {
    "kueue.x-k8s.io/podset": "worker",
    "kueue.x-k8s.io/local-queue-name": "main",
    "kueue.x-k8s.io/cluster-queue-name": "team",
}


def kueue(kind, name, spec, namespace=None):
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    version = f"{KUEUE[kind].group}/{KUEUE[kind].version}"
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


class KueueTest(QueuedCase):
    """Two nodes of four GPUs, which are all in Kueue's quota, too, and a kube-scheduler that nobody extends."""

    nodes = 2
    gpus_per_node = 4

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.start_scheduler(stock_scheduler_config(cls.cluster, "default-scheduler"), "default-scheduler")
        define(cls.cluster, "PyTorchJob", "JobSet", *KUEUE)
        resources = [
            {"name": "nvidia.com/gpu", "nominalQuota": 8},
            {"name": "cpu", "nominalQuota": 64},
            {"name": "memory", "nominalQuota": "64Gi"},
        ]
        group = {
            "coveredResources": [each["name"] for each in resources],
            "flavors": [{"name": FLAVOR, "resources": resources}],
        }
        cls.cluster.apply(
            [
                kueue("ResourceFlavor", FLAVOR, {}),
                kueue("ClusterQueue", "team", {"namespaceSelector": {}, "resourceGroups": [group]}),
                kueue("LocalQueue", "main", {"clusterQueue": "team"}, TEAM),
            ]
        )

    def clean(self):
        kinds = ",".join(kind.resource for kind in (KINDS["PyTorchJob"], KINDS["JobSet"], KUEUE["Workload"]))
        self.cluster.kubectl("delete", kinds, "--all", "-n", TEAM)
        super().clean()

    def test_a_job_with_a_queue_of_kueue_is_left_alone(self):
        job = gpu_job("theirs", 4, labels=QUEUE, spec={"suspend": True})
        self.apply(job)
        self.make_workload("job-theirs", job["spec"]["template"]["spec"], 1)
        time.sleep(3)
        made = self.job("theirs")
        self.assertTrue(made["spec"]["suspend"])
        for written in (made["metadata"], made["spec"]["template"]["metadata"]):
            keys = [*written.get("annotations", {}), *written.get("labels", {})]
            self.assertEqual([key for key in keys if key.startswith("slackline.dev/")], [])
        self.assertNotIn("theirs", self.rows())
        self.assertIn("the Job is queued by Kueue", self.why("theirs"))
        self.assertEqual(self.used(), 0)

        self.resume("job", "theirs", {"spec": {"suspend": False}})
        (pod,) = self.cluster.wait_bound("theirs", 1, 40, TEAM)
        self.assertEqual(pod["spec"]["schedulerName"], "default-scheduler")
        self.assertEqual(self.gates(pod), [])
        self.cluster.wait(lambda: self.used() == 4, 20, "its GPUs to be counted")
        self.assertNotIn("theirs", self.rows())
        self.apply(gpu_job("ours", 4, 2))
        self.cluster.wait(lambda: self.rows().get("ours", {}).get("state") == "waiting", 20, "ours to wait for them")

    def test_a_gang_that_kueue_has_admitted_is_left_alone(self):
        """Its pods do not carry the label of Kueue's queue, but what Kueue writes on what it admits."""
        self.apply(gpu_pod("busy", 4, namespace=TEAM))
        self.cluster.wait(lambda: node_of(self.cluster.get("pod", TEAM, "busy")), 40, "the pod before it to run")
        made = create(self.cluster, "PyTorchJob", "gang")
        resource = KINDS["PyTorchJob"].resource
        self.resume(resource, "gang", {"metadata": {"labels": QUEUE}, "spec": {"runPolicy": {"suspend": True}}})
        self.make_workload("pytorchjob-gang", gpu_pod("member", 4)["spec"], 2)
        self.resume(resource, "gang", {"spec": {"runPolicy": {"suspend": False}}})

        members = [self.member(made, rank) for rank in range(2)]
        self.apply(*members)
        for pod in self.pods(members):
            self.assertEqual((self.gates(pod), pod["spec"]["schedulerName"]), ([], "default-scheduler"))
        self.cluster.kubectl("delete", "pod", "busy", "-n", TEAM, "--wait")
        self.cluster.wait(lambda: all(map(node_of, self.pods(members))), 60, "both pods to run")
        self.assertNotIn("gang", self.rows())

    def test_a_gang_whose_pods_carry_the_label_of_kueues_queue_is_left_alone(self):
        made = create(self.cluster, "PyTorchJob", "marked")
        members = [self.member(made, rank) for rank in range(2)]
        for pod in members:
            pod["metadata"]["labels"].update(QUEUE)
        self.apply(*members)
        self.cluster.wait(lambda: all(map(node_of, self.pods(members))), 40, "both pods to run")
        for pod in self.pods(members):
            self.assertEqual((self.gates(pod), pod["spec"]["schedulerName"]), ([], "default-scheduler"))
        self.assertNotIn("marked", self.rows())
        self.cluster.delete_all("pod", TEAM)
        # A JobSet's, whose Jobs its controller makes.
        marks = {
            f"jobset.sigs.k8s.io/{key}": value for key, value in (("jobset-name", "set"), ("replicatedjob-name", "a"))
        }
        job = gpu_job("set-a-0", 4, 2, labels=marks)
        job["metadata"]["ownerReferences"] = [reference_to(create(self.cluster, "JobSet", "set"))]
        job["spec"]["template"]["metadata"]["labels"] = marks | QUEUE
        self.apply(job)
        for pod in self.cluster.wait_bound("set-a-0", 2, 40, TEAM):
            self.assertEqual((self.gates(pod), pod["spec"]["schedulerName"]), ([], "default-scheduler"))
        self.assertEqual(self.rows(), {})

    def test_pods_behind_kueues_gate_are_left_alone_and_never_get_ours(self):
        """With the label of the queue or, where Kueue manages what has none, without it."""
        pods = [gpu_pod(f"grouped-{rank}", 4, namespace=TEAM, scheduler="default-scheduler") for rank in range(2)]
        for pod, labels in zip(pods, (QUEUE, {}), strict=True):
            pod["metadata"]["labels"] = {
                **labels,
                "kueue.x-k8s.io/managed": "true",
                "kueue.x-k8s.io/pod-group-name": "grouped",
            }
            pod["metadata"]["annotations"]["kueue.x-k8s.io/pod-group-total-count"] = "2"
            pod["spec"]["schedulingGates"] = [{"name": ADMISSION}]
        self.apply(*pods)
        time.sleep(3)
        for pod in self.pods(pods):
            self.assertEqual((self.gates(pod), node_of(pod)), ([ADMISSION], None))
            self.assertNotIn("slackline.dev/managed", pod["metadata"]["labels"])
            self.assertIn("waits behind a scheduling gate that is not Slackline's", self.why(name_of(pod)))
        self.assertEqual(self.rows(), {})
        for pod in pods:
            self.resume("pod", name_of(pod), {"spec": {"schedulingGates": None}})
        self.cluster.wait(lambda: all(map(node_of, self.pods(pods))), 40, "both to run")
        self.cluster.wait(lambda: self.used() == 8, 20, "their GPUs to be counted")

    # ---- words the tests are written in --------------------------------------------------------

    def make_workload(self, name, template, count):
        """As Kueue makes it for an object."""
        pods = {"name": "main", "count": count, "template": {"spec": template}}
        self.apply(kueue("Workload", name, {"queueName": "main", "podSets": [pods]}, TEAM))

    def resume(self, kind, name, change):
        """What Kueue changes when it admits."""
        self.cluster.kubectl("patch", kind, name, "-n", TEAM, "--type=merge", "-p", json.dumps(change))

    @staticmethod
    def member(made, rank):
        pod = gpu_pod(f"{name_of(made)}-worker-{rank}", 4, namespace=TEAM, scheduler="default-scheduler")
        labels = {"training.kubeflow.org/job-name": name_of(made), **ON_PODS}
        pod["metadata"].update(ownerReferences=[reference_to(made)], labels=labels)
        return pod

    def pods(self, written):
        return [self.cluster.get("pod", TEAM, name_of(pod)) for pod in written]

    @staticmethod
    def gates(pod):
        return [gate["name"] for gate in pod["spec"].get("schedulingGates", [])]

    def used(self):
        nodes = json.loads(self.daemon.get("/v1/nodes")[1])["items"]
        return sum(gpus["used"] for node in nodes for gpus in node["gpus"])

    def why(self, name):
        asked = [slackline_binary(), "why", f"{TEAM}/{name}", "-s", self.daemon.api_url]
        said = subprocess.run(asked, capture_output=True, text=True, check=False)
        return said.stdout + said.stderr


if __name__ == "__main__":
    unittest.main()
