"""What controllers make together starts together, or not at all: on a real cluster. The kinds are the projects' own
definitions (scripts/fetch-crds); the test makes pods as their controllers do."""

import datetime
import json
import re
import subprocess
import time
import unittest
from typing import NamedTuple

from support.controlplane import ROOT
from support.daemon import slackline_binary
from support.objects import DURATION, TEAM, gpu_job, gpu_pod, gpu_quota, name_of, node_of, phase_of
from support.queued_case import QueuedCase

GATE = "slackline.dev/queue"
CRDS = ROOT / ".cache" / "crds" / "files"
GUIDE = (ROOT / "docs" / "GANGS.md").read_text().replace("namespace: team}", f"namespace: {TEAM}}}")
# The examples of the guide by their kinds.
EXAMPLES = {
    re.search(r"^kind: (\w+)$", example, re.MULTILINE)[1]: example
    for example in re.findall(r"^```yaml\n(apiVersion: .*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
}


class Kind(NamedTuple):
    group: str
    version: str
    plural: str

    @property
    def resource(self):
        return f"{self.plural}.{self.group}"


KINDS = {
    "PyTorchJob": Kind("kubeflow.org", "v1", "pytorchjobs"),
    "JobSet": Kind("jobset.x-k8s.io", "v1alpha2", "jobsets"),
    "MPIJob": Kind("kubeflow.org", "v2beta1", "mpijobs"),
    "RayCluster": Kind("ray.io", "v1", "rayclusters"),
    "LeaderWorkerSet": Kind("leaderworkerset.x-k8s.io", "v1", "leaderworkersets"),
}
# What makes some of them, and has no example in the guide.
MAKERS = {
    "TrainJob": Kind("trainer.kubeflow.org", "v1alpha1", "trainjobs"),
    "RayJob": Kind("ray.io", "v1", "rayjobs"),
    "RayService": Kind("ray.io", "v1", "rayservices"),
}
KUEUE = {
    name: Kind("kueue.x-k8s.io", "v1beta2", f"{name.lower()}s")
    for name in ("ResourceFlavor", "ClusterQueue", "LocalQueue", "Workload")
}


def define(cluster, *kinds):
    """From now on the cluster has these kinds."""
    assert CRDS.exists(), "the definitions are not there: run scripts/fetch-crds"
    wanted = [(KINDS | MAKERS | KUEUE)[kind] for kind in kinds]
    for kind in wanted:
        (file,) = CRDS.rglob(f"{kind.group}_{kind.plural}.yaml")
        cluster.kubectl("create", "-f", file)  # apply would copy it into an annotation, which it is too long for
    for kind in wanted:
        cluster.wait(lambda kind=kind: is_served(cluster, kind), 30, f"the cluster to have {kind.resource}")


def is_served(cluster, kind):
    """Also for kubectl. (`kubectl wait` fails where a definition has no conditions yet.)"""
    group = f"/apis/{kind.group}/{kind.version}"
    status, known = cluster.request("GET", group)
    listed = status == 200 and kind.plural in [each["name"] for each in known["resources"]]
    return listed and cluster.request("GET", f"{group}/{kind.plural}")[0] == 200


def create(cluster, kind, name, template=None, workers=2, policy=None, head=None, more=None):
    """Makes the controller's object; returns it as the API server keeps it. A launcher or head asks for no GPU, unless
    a template of it is given. `more`: further members of its spec."""
    template = template or {"spec": gpu_pod("member", 4)["spec"]}
    alone = head or {"spec": {"containers": [{"name": "alone", "image": "registry.example/alone"}]}}
    several = {"replicas": workers, "template": template}
    spec = {
        "PyTorchJob": {"pytorchReplicaSpecs": {"Worker": several}, "runPolicy": policy or {}},
        "MPIJob": {"mpiReplicaSpecs": {"Launcher": {"template": alone}, "Worker": several}},
        "RayCluster": {"headGroupSpec": {"template": alone}, "workerGroupSpecs": [{"groupName": "gpu", **several}]},
        "JobSet": {"replicatedJobs": [{"name": part, "template": {"spec": {"template": template}}} for part in "ab"]},
        "LeaderWorkerSet": {"leaderWorkerTemplate": {"size": workers, "workerTemplate": template}},
    }[kind]
    made = {
        "apiVersion": f"{KINDS[kind].group}/{KINDS[kind].version}",
        "kind": kind,
        "metadata": {"name": name, "namespace": TEAM},
        "spec": spec | (more or {}),
    }
    flags = ("--validate=strict", "-o", "json", "-f", "-")
    return json.loads(cluster.kubectl("create", *flags, input=json.dumps(made)))


def stateful_set(name):
    """Without pods; nothing makes any in this cluster."""
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [{"name": "c", "image": "registry.example/c"}]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name, "namespace": TEAM},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"app": name}}, "serviceName": name, "template": template},
    }


def reference_to(made):
    """What its pods carry."""
    owner = {key: made[key] for key in ("apiVersion", "kind")}
    return {**owner, "name": name_of(made), "uid": made["metadata"]["uid"], "controller": True}


class GangsTest(QueuedCase):
    """Two nodes of four GPUs: room for one gang of two pods that fill a node each."""

    nodes = 2
    gpus_per_node = 4

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        define(cls.cluster, *KINDS)

    def clean(self):
        self.cluster.kubectl("delete", ",".join(kind.resource for kind in KINDS.values()), "--all", "-n", TEAM)
        super().clean()

    def owner(self, kind, name, **said):
        return reference_to(create(self.cluster, kind, name, **said))

    @staticmethod
    def member(name, owner, gpus=4):
        pod = gpu_pod(name, gpus, namespace=TEAM, scheduler="default-scheduler")
        pod["metadata"].update(ownerReferences=[owner], labels={"training.kubeflow.org/job-name": owner["name"]})
        if gpus == 0:  # nobody sends it to the planner's scheduler, and this cluster has no other
            pod["spec"]["containers"][0]["resources"] = {}
            pod["spec"]["schedulerName"] = "gpu-scheduler"
        return pod

    def pods(self, owner):
        return [pod for pod in self.cluster.list("pod", TEAM) if owner in pod["metadata"].get("ownerReferences", [])]

    def bound(self, owner):
        return sum(bool(node_of(pod)) for pod in self.pods(owner))

    def wait_together(self, owners, size):
        """Until one of them runs as a whole; none is seen by halves for longer than a gang takes to bind."""

        def one():
            running = [owner for owner in owners if self.bound(owner) == size]
            return running[0] if running else None

        first = self.cluster.wait(one, 40, "one of the gangs to run")
        others = [owner for owner in owners if owner is not first]
        time.sleep(2)
        for owner in others:
            for pod in self.pods(owner):
                self.assertEqual([gate["name"] for gate in pod["spec"].get("schedulingGates", [])], [GATE])
        return first, others

    def let_end(self, owner):
        for pod in self.pods(owner):
            self.cluster.kubectl("annotate", "pod", name_of(pod), "-n", TEAM, f"{DURATION}=0s", "--overwrite")
        self.cluster.wait(
            lambda: {phase_of(pod) for pod in self.pods(owner)} == {"Succeeded"}, 30, f"{owner['name']} to finish"
        )

    def test_of_two_pytorchjobs_one_runs_and_the_other_waits_as_a_whole(self):
        owners = [self.owner("PyTorchJob", name) for name in ("t1", "t2")]
        for role in ("master-0", "worker-0"):
            self.apply(*(self.member(f"{owner['name']}-{role}", owner) for owner in owners))
        first, (second,) = self.wait_together(owners, size=2)
        rows = {row["name"]: (row["kind"], row["state"]) for row in self.rows().values()}
        self.assertEqual(rows[second["name"]], ("Gang", "waiting"))
        for pod in self.pods(first):
            self.assertEqual(pod["spec"]["schedulerName"], "gpu-scheduler")
        self.let_end(first)
        self.cluster.wait(lambda: self.bound(second) == 2, 40, "the other gang to run")
        row = self.cluster.wait(lambda: self.history().get(first["name"]), 20, "the first one to be in the history")
        self.assertEqual((row["kind"], row["outcome"], row["pods"], row["gpus"]), ("PyTorchJob", "succeeded", 2, 8))
        self.assertGreater(row["gpuHours"], 0)
        self.assertNotIn(second["name"], self.history(), "it runs")

    def test_a_gang_waits_for_its_last_pod(self):
        owner = self.owner("PyTorchJob", "late")
        self.apply(self.member("late-launcher", owner, gpus=0), self.member("late-worker-0", owner))
        self.cluster.wait(
            lambda: self.rows().get("late", {}).get("reason") == "GangIncomplete", 10, "the gang to be told incomplete"
        )
        self.apply(self.member("late-worker-1", owner))
        self.cluster.wait(lambda: self.bound(owner) == 3, 40, "all three to run")
        launcher = self.cluster.get("pod", TEAM, "late-launcher")
        self.assertNotIn("slackline.dev/managed", launcher["metadata"].get("labels", {}), "it asks for no GPU")

    def test_no_half_starts_that_a_quota_cut_off(self):
        """Its controller makes the first pod, is refused the second, and tries again for as long as it takes."""
        self.cluster.apply([gpu_quota("gpus", 4)])
        quota = ("delete", "resourcequota", "gpus", "-n", TEAM, "--ignore-not-found")
        self.addCleanup(self.cluster.kubectl, *quota)
        path = f"/api/v1/namespaces/{TEAM}/resourcequotas/gpus"
        self.cluster.wait(lambda: self.cluster.request("GET", path)[1].get("status", {}).get("used"), 20, "the quota")
        owner = self.owner("PyTorchJob", "cut", policy={"activeDeadlineSeconds": 7200})
        first, second = (self.member(f"cut-worker-{rank}", owner) for rank in range(2))
        self.apply(first)
        with self.assertRaisesRegex(AssertionError, "exceeded quota"):
            self.apply(second)
        time.sleep(5)
        row = self.rows()["cut"]
        self.assertEqual((self.bound(owner), row["reason"]), (0, "GangIncomplete"))
        why = json.loads(self.daemon.get(f"/v1/tasks/{TEAM}/cut/explain")[1])
        self.assertIn("1 of 2 pods", [each.get("detail") for each in why["blockers"]])
        due = datetime.datetime.fromisoformat(row["deadline"]) - datetime.datetime.now(datetime.UTC)
        self.assertLess(due, datetime.timedelta(hours=2), "its clock runs")
        self.cluster.kubectl(*quota)
        self.apply(second)
        self.cluster.wait(lambda: self.bound(owner) == 2, 40, "both to run")

    def test_members_that_differ_share_what_is_free(self):
        """4+2+1 GPUs on two nodes of 4: as many of the largest would need a third."""
        owner = self.owner("RayCluster", "mixed", workers=3)
        workers = [self.member(f"mixed-worker-{gpus}", owner, gpus) for gpus in (1, 4, 2)]
        self.apply(self.member("mixed-head", owner, gpus=0), *workers)
        self.cluster.wait(lambda: self.bound(owner) == 4, 40, "all four to run")
        nodes = {name_of(pod): node_of(pod) for pod in self.pods(owner)}
        self.assertEqual(nodes["mixed-worker-1"], nodes["mixed-worker-2"])
        self.assertNotEqual(nodes["mixed-worker-4"], nodes["mixed-worker-2"])
        self.apply(gpu_pod("beside", 1, namespace=TEAM))
        self.cluster.wait(
            lambda: node_of(self.cluster.get("pod", TEAM, "beside")), 40, "another pod to get the GPU that is left"
        )

    def test_three_that_are_alike_share_two_nodes(self):
        owner = self.owner("PyTorchJob", "three", workers=3)
        self.apply(*(self.member(f"three-worker-{index}", owner, 2) for index in range(3)))
        self.cluster.wait(lambda: self.bound(owner) == 3, 40, "all three to run")
        self.assertEqual({node_of(pod) for pod in self.pods(owner)}, {"k80-0", "k80-1"})
        self.apply(gpu_job("indexed", 2, 3, annotations={"expected-duration": "10m"}))
        self.wait_reason("indexed", "WaitsItsTurn")
        self.let_end(owner)
        pods = self.cluster.wait_bound("indexed", 3, 40, TEAM)
        self.assertEqual({node_of(pod) for pod in pods}, {"k80-0", "k80-1"})
        self.cluster.wait(lambda: self.rows()["indexed"]["state"] == "running", 10, "it to be told running")
        self.assertIn("predictedFinish", self.rows()["indexed"])

    def test_what_is_free_now_is_enough_though_a_node_could_have_all(self):
        """One GPU is free on one node, two on the other."""
        for name, gpus in (("first", 3), ("second", 2)):
            self.apply(gpu_pod(name, gpus, namespace=TEAM))
            self.cluster.wait(lambda name=name: node_of(self.cluster.get("pod", TEAM, name)), 40, "the pods before")
        owner = self.owner("PyTorchJob", "parts", workers=3)
        self.apply(*(self.member(f"parts-worker-{index}", owner, 1) for index in range(3)))
        self.cluster.wait(lambda: self.bound(owner) == 3, 40, "all three to run")
        nodes = [node_of(pod) for pod in self.pods(owner)]
        second = node_of(self.cluster.get("pod", TEAM, "second"))
        self.assertEqual(nodes.count(second), 2)

    def test_a_node_that_kube_scheduler_refuses_to_a_member_is_told_and_left_out(self):
        """The gang needs both nodes, and its pods keep off whatever is called noisy."""
        noisy = self.member("noisy", self.owner("RayCluster", "other"), gpus=0)
        noisy["metadata"]["labels"]["app"] = "noisy"
        noisy["spec"]["nodeName"] = "k80-0"
        self.apply(noisy)
        owner = self.owner("PyTorchJob", "quiet")
        workers = [self.member(f"quiet-worker-{number}", owner) for number in range(2)]
        term = {"labelSelector": {"matchLabels": {"app": "noisy"}}, "topologyKey": "kubernetes.io/hostname"}
        for worker in workers:
            only = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
            worker["spec"]["affinity"] = {"podAntiAffinity": only}
        self.apply(*workers)

        def refused():
            why = json.loads(self.daemon.get(f"/v1/tasks/{TEAM}/quiet/explain?node=k80-0")[1])
            found = [each for each in why.get("blockers", []) if each["reason"] == "NotBound"]
            return found and "k80-0 (again" in found[0].get("detail", "") and why

        why = self.cluster.wait(refused, 90, "k80-0 to be refused")
        self.assertEqual(why["nodeConstraint"]["constraint"], "RefusedByScheduler")
        self.assertIn("anti-affinity", why["nodeConstraint"]["detail"])
        self.assertEqual(self.rows()["quiet"]["state"], "starting")

        for worker in workers:
            self.cluster.kubectl("delete", "pod", name_of(worker), "-n", TEAM)
        self.apply(*workers)
        self.cluster.wait(
            lambda: self.rows().get("quiet", {}).get("reason") == "NotBound", 20, "what is made again to wait"
        )
        self.assertIn("retryAfter", self.rows()["quiet"])

    def keep_a_node_busy(self):
        self.apply(gpu_pod("busy", 4, namespace=TEAM))
        self.cluster.wait(lambda: node_of(self.cluster.get("pod", TEAM, "busy")), 40, "the other pod to run")

    def launcher_of(self, owner):
        launcher = self.job_of(owner, "launcher")
        marks = {"training.kubeflow.org/job-name": "hpl", "training.kubeflow.org/job-role": "launcher"}
        launcher["metadata"].update(name="hpl-launcher", labels=marks)
        launcher["spec"]["template"]["metadata"] = {"labels": marks}
        return launcher

    def launchers(self):
        return self.cluster.pods_of("hpl-launcher", TEAM)

    def assert_launcher_waits(self):
        self.cluster.wait(self.launchers, 20, "the pod of the launcher")
        time.sleep(5)
        (pod,) = self.launchers()
        self.assertEqual([gate["name"] for gate in pod["spec"]["schedulingGates"]], [GATE])

    def test_the_launcher_of_an_mpijob_waits_for_its_workers(self):
        self.keep_a_node_busy()
        owner = self.owner("MPIJob", "hpl")
        launcher = self.launcher_of(owner)
        spec = launcher["spec"]["template"]["spec"]
        spec["schedulerName"] = "gpu-scheduler"
        spec["containers"][0]["resources"] = {}
        self.apply(*(self.member(f"hpl-worker-{i}", owner) for i in range(2)), launcher)
        self.assert_launcher_waits()
        self.cluster.kubectl("delete", "pod", "busy", "-n", TEAM, "--wait")
        self.cluster.wait(lambda: self.bound(owner) == 2, 40, "the workers to run")
        self.cluster.wait(lambda: [node_of(pod) for pod in self.launchers()] != [None], 20, "the launcher to run")

    def test_a_launcher_that_asks_for_gpus_starts_with_its_workers(self):
        self.keep_a_node_busy()
        owner = self.owner("MPIJob", "hpl", workers=1, head={"spec": gpu_pod("launcher", 4)["spec"]})
        self.apply(self.member("hpl-worker-0", owner), self.launcher_of(owner))
        self.assert_launcher_waits()
        self.assertEqual(self.bound(owner), 0, "there is room for one of them only")
        self.cluster.kubectl("delete", "pod", "busy", "-n", TEAM, "--wait")
        self.cluster.wait(lambda: self.bound(owner) == 1 and node_of(self.launchers()[0]), 40, "both to run")

    def test_what_is_made_again_joins_those_that_run(self):
        owner = self.owner("PyTorchJob", "again")
        self.apply(self.member("again-master-0", owner), self.member("again-worker-0", owner))
        self.cluster.wait(lambda: self.bound(owner) == 2, 40, "the gang to run")
        self.cluster.kubectl("delete", "pod", "again-worker-0", "-n", TEAM, "--wait")
        self.apply(self.member("again-worker-0", owner))
        self.cluster.wait(lambda: self.bound(owner) == 2, 40, "its replacement to run")

    def test_what_is_made_again_as_a_whole_goes_on_in_its_place(self):
        owners = [self.owner("PyTorchJob", name) for name in ("back", "next")]
        for owner in owners:
            self.apply(*(self.member(f"{owner['name']}-worker-{rank}", owner) for rank in (0, 1)))
        first, (second,) = self.wait_together(owners, size=2)
        pods = [name_of(pod) for pod in self.pods(first)]
        self.cluster.kubectl("delete", "pod", *pods, "-n", TEAM, "--wait")
        time.sleep(3)
        self.assertEqual((self.pods(first), self.bound(second)), ([], 0))
        self.apply(*(self.member(pod, first) for pod in pods))
        self.cluster.wait(lambda: self.bound(first) == 2, 20, "the gang to go on")
        self.assertEqual(self.bound(second), 0)
        self.cluster.kubectl("delete", "pod", *pods, "-n", TEAM, "--wait")
        self.cluster.wait(lambda: self.bound(second) == 2, 40, "the other gang to run once nobody comes back")

    def test_the_jobs_of_a_jobset_start_together(self):
        owners = [self.owner("JobSet", name) for name in ("s1", "s2")]
        for part in ("a", "b"):
            self.apply(*(self.job_of(owner, part) for owner in owners))

        def running():
            return [
                owner["name"]
                for owner in owners
                if all(node_of(pod) for part in ("a", "b") for pod in self.pods_of_part(owner, part))
                and all(self.pods_of_part(owner, part) for part in ("a", "b"))
            ]

        self.cluster.wait(running, 40, "one of the sets to run")
        time.sleep(2)
        (first,) = running()
        second = next(owner for owner in owners if owner["name"] != first)
        for part in ("a", "b"):
            self.assertEqual([node_of(pod) for pod in self.pods_of_part(second, part)], [None])
        row = self.rows()[second["name"]]
        self.assertEqual((row["kind"], row["state"]), ("Gang", "waiting"))

    def fill_a_node(self, name):
        """A Job that Slackline starts; returns once it runs."""
        self.apply(gpu_job(name, gpus=4))
        self.cluster.wait(lambda: any(map(node_of, self.cluster.pods_of(name, TEAM))), 40, f"{name} to run")

    def wait_for_the_rest(self, make_first, first, make_rest, rest):
        """Of a gang with a pod in each of two stages: not started by halves, and in its place before others."""
        self.fill_a_node("before")
        make_first()
        time.sleep(5)
        self.assertEqual([node_of(pod) for pod in first()], [None], "the rest of it would have no room")
        self.cluster.kubectl("delete", "job", "before", "-n", TEAM)
        self.cluster.wait(lambda: node_of(first()[0]), 40, "the first stage to run")
        self.apply(gpu_job("after", gpus=4))
        time.sleep(5)
        self.assertTrue(self.job("after")["spec"]["suspend"])
        make_rest()
        self.cluster.wait(lambda: [pod for pod in rest() if node_of(pod)], 40, "the second stage to run")
        self.assertTrue(self.job("after")["spec"]["suspend"])

    def test_the_second_job_of_a_jobset_in_order_has_room(self):
        in_order = {"startupPolicy": {"startupPolicyOrder": "InOrder"}}
        owner = self.owner("JobSet", "ordered", more=in_order)
        make = {part: lambda part=part: self.apply(self.job_of(owner, part)) for part in "ab"}
        of = {part: lambda part=part: self.pods_of_part(owner, part) for part in "ab"}
        self.wait_for_the_rest(make["a"], of["a"], make["b"], of["b"])

    def test_the_workers_of_a_leader_that_is_to_be_ready_have_room(self):
        create(self.cluster, "LeaderWorkerSet", "vllm", more={"startupPolicy": "LeaderReady"})
        sets = {}

        def make(name, owner, index):
            """As its StatefulSet does; that is there for the garbage collector."""
            self.apply(stateful_set(owner))
            sets[name] = reference_to(self.cluster.get("statefulset", TEAM, owner))
            pod = gpu_pod(name, 4, namespace=TEAM, scheduler="default-scheduler")
            prefix = "leaderworkerset.sigs.k8s.io"
            marks = {"name": "vllm", "group-index": "0", "worker-index": index}
            pod["metadata"].update(
                ownerReferences=[sets[name]],
                labels={f"{prefix}/{key}": value for key, value in marks.items()},
                annotations={f"{prefix}/size": "2"},
            )
            self.apply(pod)

        self.addCleanup(self.cluster.delete_all, "statefulset", TEAM)
        self.wait_for_the_rest(
            lambda: make("vllm-0", "vllm", "0"), lambda: self.pods(sets["vllm-0"]),
            lambda: make("vllm-0-1", "vllm-0", "1"), lambda: self.pods(sets["vllm-0-1"]),
        )  # fmt: skip

    def test_the_others_of_a_job_with_exclusive_topology_have_room(self):
        """Its JobSet's webhook refuses them until the first has a node; here they come with `parallelism`."""
        prefix, rack = "jobset.sigs.k8s.io", "example.com/rack"
        nodes = [name_of(node) for node in self.cluster.list("node")]
        self.cluster.kubectl("label", "node", *nodes, f"{rack}=r1")
        self.addCleanup(self.cluster.kubectl, "label", "node", *nodes, f"{rack}-")
        says = {"annotations": {f"alpha.{prefix}/exclusive-topology": rack}}
        spec = gpu_pod("member", 4, namespace=TEAM, scheduler="default-scheduler")["spec"]
        of_job = {"completionMode": "Indexed", "completions": 2, "parallelism": 2, "template": {"spec": spec}}
        led = {"replicatedJobs": [{"name": "a", "template": {"metadata": says, "spec": of_job}}]}
        owner = self.owner("JobSet", "racked", more=led)
        term = {"labelSelector": {"matchLabels": {f"{prefix}/job-key": "k"}}, "topologyKey": rack}
        of_pod = {"metadata": {**says, "labels": {f"{prefix}/job-key": "k"}}, "spec": dict(spec)}
        of_pod["spec"]["affinity"] = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        job = self.job_of(owner, "a", of_pod)
        job["metadata"].update(says)
        job["spec"].update(completionMode="Indexed", completions=2, parallelism=1)
        name = name_of(job)

        def pods(index):
            label = "batch.kubernetes.io/job-completion-index"
            return [pod for pod in self.pods_of_part(owner, "a") if pod["metadata"]["labels"][label] == index]

        more = json.dumps({"spec": {"parallelism": 2}})
        self.wait_for_the_rest(
            lambda: self.apply(job), lambda: pods("0"),
            lambda: self.cluster.kubectl("patch", "job", name, "-n", TEAM, "-p", more), lambda: pods("1"),
        )  # fmt: skip
        self.assertEqual(self.rows()[name]["kind"], "Gang")

    def test_class_and_queue_of_a_jobsets_template_count(self):
        """Eight GPUs on nodes of four: it waits."""
        written = {
            "metadata": {"annotations": {"slackline.dev/qos-class": "prior"}, "labels": {GATE: "research"}},
            "spec": gpu_pod("member", 8)["spec"],
        }
        made = create(self.cluster, "JobSet", "prior", written)
        template = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
        job = self.job_of(reference_to(made), "a", template)
        self.apply(job)
        row = self.cluster.wait(lambda: self.rows().get("prior"), 20, "it to be in the queue")
        self.assertEqual((row["kind"], row["qosClass"], row["queue"]), ("Gang", "prior", "research"))
        self.assertIn("slackline.dev/admitted", self.job("prior-a-0")["metadata"]["annotations"])

    def test_the_examples_of_the_guide_are_whole_in_the_projects_definitions(self):
        """Strictly: a field, or an annotation of a template, that a definition does not have would be an error."""
        for example in EXAMPLES.values():
            self.cluster.apply(example, "--dry-run=server")
        self.assertEqual(set(EXAMPLES), set(KINDS))

    def test_of_the_examples_of_the_guide_people_can_ask_before_they_are_there(self):
        pods = {"PyTorchJob": "2x8", "MPIJob": "2x4", "JobSet": "4x8", "RayCluster": "3x4", "LeaderWorkerSet": "4x8"}
        for kind, example in EXAMPLES.items():
            asked = [slackline_binary(), "quote", "-f", "-", "-o", "json", "-s", self.daemon.api_url]
            done = subprocess.run(asked, input=example, capture_output=True, text=True, check=False)
            with self.subTest(kind=kind, said=done.stderr):
                self.assertIn(done.returncode, (0, 1, 4))
                [written, *_] = json.loads(done.stdout)["items"]
                fits = pods[kind] == "2x4"  # the cluster has two nodes of four GPUs
                self.assertEqual(written.get("reason", ""), "" if fits else "NoNodeFits")

    def test_labels_that_are_read_are_those_that_controllers_set(self):
        group = r"(?:(?:jobset|leaderworkerset)\.sigs\.k8s\.io|training\.kubeflow\.org)"
        key = re.compile(rf'"((?:alpha\.)?{group}/[a-z-]+)"')

        def keys(files):
            return {found for file in files for found in key.findall(file.read_text())}

        ours = keys([*(ROOT / "src").rglob("*.cpp"), ROOT / "deploy/webhook/mutating.yaml"])
        self.assertGreaterEqual(len(ours), 9)
        self.assertEqual(ours - keys(CRDS.rglob("*.go")), set())

    def pods_of_part(self, owner, part):
        return self.cluster.pods_of(f"{owner['name']}-{part}-0", TEAM)

    @staticmethod
    def job_of(owner, part, template=None):
        prefix = "jobset.sigs.k8s.io"
        marks = {
            f"{prefix}/jobset-name": owner["name"],
            f"{prefix}/jobset-uid": owner["uid"],
            f"{prefix}/replicatedjob-name": part,
            f"{prefix}/restart-attempt": "0",
        }
        template = template or {"spec": gpu_pod("member", 4, namespace=TEAM, scheduler="default-scheduler")["spec"]}
        written = template.get("metadata", {})
        metadata = {**written, "labels": {**written.get("labels", {}), **marks}}
        return {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {
                "name": f"{owner['name']}-{part}-0",
                "namespace": TEAM,
                "labels": marks,
                "ownerReferences": [owner],
            },
            "spec": {"template": {**template, "metadata": metadata}},
        }

    def test_a_planner_that_dies_in_between_starts_no_half(self):
        owner = self.owner("PyTorchJob", "mid")
        self.apply(self.member("mid-master-0", owner), self.member("mid-worker-0", owner))

        def planned():
            return any("slackline.dev/plan" in pod["metadata"].get("annotations", {}) for pod in self.pods(owner))

        self.cluster.wait(planned, 40, "the plan")
        self.daemon.kill()
        self.daemon.start()
        self.cluster.wait(lambda: self.bound(owner) == 2, 60, "the gang to run")
        plans = {json.loads(pod["metadata"]["annotations"]["slackline.dev/plan"])["id"] for pod in self.pods(owner)}
        self.assertEqual(len(plans), 1, "one plan for both")


if __name__ == "__main__":
    unittest.main()
