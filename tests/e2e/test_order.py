"""The order of the queue as administrators and researchers set it, on a real control plane: rules per
queue, a configuration that changes under the running daemon, Jobs that depend on others, Jobs and
pods that people write against the queue, and what only an autoscaler could serve."""

import json
import subprocess
import unittest

from support.daemon import slackline_binary
from support.objects import (
    AMD,
    DURATION,
    GPU,
    TEAM,
    denying_policy,
    device_class,
    device_on,
    disk,
    gpu_job,
    gpu_pod,
    gpu_quota,
    limit_range,
    name_of,
    node_of,
    runtime_class,
)
from support.queued_case import QueuedCase

QUEUES = "queues: [{name: small, maxPending: 2}, {name: grows, scaleUp: true}]\n"


class OrderTest(QueuedCase):
    gpus_per_node = 4
    settings = QUEUES

    # ---- rules per queue, and a file that changes ----------------------------------------------

    def test_a_changed_file_is_obeyed_without_a_restart(self):
        self.fill_the_cluster()
        queue = {"slackline.dev/queue": "small"}
        for name in ("first", "second"):
            self.apply(gpu_job(name, labels=queue))
        third = gpu_job("third", labels=queue)
        code, said = self.cluster.try_create(third)
        self.assertNotEqual(code, 0)
        self.assertIn("queue small: 2 tasks wait there and its maxPending is 2", said)
        self.apply(gpu_job("another-queue"))

        self.change_file(self.written.replace("maxPending: 2", "maxPending: many"))
        self.wait_reloads("refused", 1)
        self.assertNotEqual(self.cluster.try_create(third)[0], 0, "a bad file changes nothing")

        self.change_file(self.written.replace("maxPending: 2", "maxPending: 3"))
        self.wait_reloads("loaded", 1)
        code, said = self.cluster.try_create(third)
        self.assertEqual(code, 0, said)
        self.change_file(self.written)
        self.wait_reloads("loaded", 2)

    # ---- depends-on ----------------------------------------------------------------------------

    def test_a_job_starts_after_what_it_depends_on(self):
        self.apply(self.without_gpus("prep", duration="6s"))
        self.apply(gpu_job("train", annotations={"depends-on": "prep"}))
        self.wait_reason("train", "DependencyPending")
        self.assertIs(self.job("train")["spec"]["suspend"], True)
        self.wait_bound("train")
        self.assertEqual(self.job("prep")["status"].get("succeeded"), 1)

    def test_a_dependency_that_failed_or_is_not_there_keeps_it_waiting(self):
        self.apply(self.without_gpus("broken", deadline_s=1))
        after_none = gpu_job("after-none", annotations={"depends-on": "nobody"})
        code, said = self.cluster.try_create(after_none)
        self.assertEqual(code, 0)
        self.assertIn("Warning: slackline.dev/depends-on: not there: nobody", said)
        self.apply(gpu_job("after-broken", annotations={"depends-on": "broken"}))
        self.wait_reason("after-none", "DependencyMissing")
        self.wait_reason("after-broken", "DependencyFailed")
        self.apply(self.without_gpus("nobody", duration="1s"))
        self.wait_bound("after-none")
        self.assertIs(self.job("after-broken")["spec"]["suspend"], True)

    def test_a_cycle_is_refused_by_its_name(self):
        self.apply(gpu_job("a", annotations={"depends-on": "b"}))
        self.apply(gpu_job("b", annotations={"depends-on": "c"}))
        self.wait_reason("b", "DependencyMissing")
        code, said = self.cluster.try_create(gpu_job("c", annotations={"depends-on": "a"}))
        self.assertNotEqual(code, 0)
        self.assertIn("c -> a -> b -> c", said)
        self.assertIn("(DependencyCycle)", said)

    # ---- what people write against the queue ---------------------------------------------------

    def test_a_manifest_applied_again_leaves_the_job_in_the_queue(self):
        fillers = self.fill_the_cluster()
        manifest = gpu_job("again", spec={"suspend": False})
        self.apply(manifest)
        self.assertIs(self.job("again")["spec"]["suspend"], True)
        code, said = self.cluster.try_kubectl("apply", "-f", "-", input=json.dumps(manifest))
        self.assertEqual(code, 0, said)
        self.assertIn("Warning: spec.suspend: the Job waits in queue team-a", said)
        patch = ["patch", "job", "again", "-n", TEAM, "-p", '{"spec":{"suspend":false}}']
        code, said = self.cluster.try_kubectl(*patch)
        self.assertEqual(code, 0, said)
        self.assertIs(self.job("again")["spec"]["suspend"], True)
        self.assertEqual(self.cluster.pods_of("again", TEAM), [])
        for pod in fillers:
            self.cluster.kubectl("delete", "pod", pod, "-n", "others", "--wait=false")
        self.wait_bound("again")

    def test_a_bare_pod_waits_in_the_queue_too(self):
        self.fill_the_cluster(gpus=3)
        self.apply(gpu_pod("first", gpus=2, namespace=TEAM, scheduler="default-scheduler"))
        pod = self.cluster.get("pod", TEAM, "first")
        self.assertEqual(pod["metadata"]["labels"]["slackline.dev/managed"], "true")
        self.assertEqual(pod["spec"]["schedulingGates"], [{"name": "slackline.dev/queue"}])
        self.assertEqual(pod["spec"]["schedulerName"], "gpu-scheduler")
        no_gpus = gpu_pod("no-gpus", namespace=TEAM)
        no_gpus["spec"]["containers"][0]["resources"] = {}
        self.apply(no_gpus)
        self.assertNotIn("labels", self.cluster.get("pod", TEAM, "no-gpus")["metadata"])
        self.apply(gpu_pod("second", gpus=1, namespace=TEAM, scheduler="default-scheduler"))
        self.cluster.wait(lambda: node_of(self.cluster.get("pod", TEAM, "second")), 30, "the second to be bound")
        self.assertIsNone(node_of(self.cluster.get("pod", TEAM, "first")))

    def test_a_class_is_promised_by_what_the_family_does(self):
        what = {"model": "inception4", "batch-size": "64", "iterations": "90000"}
        self.fill_the_cluster()
        self.apply(gpu_job("promised", annotations={**what, "qos-class": "prior"}))
        notes = self.job("promised")["metadata"]["annotations"]
        self.assertIn("slackline.dev/deadline", notes)
        self.assertRegex(notes["slackline.dev/deadline-basis"], r"^prior: 1 x \S+ on K80 \((family|similar)\)$")

    # ---- what only an autoscaler could serve ---------------------------------------------------

    def test_what_no_node_could_ever_run_is_shown_to_the_autoscaler(self):
        grows = {"slackline.dev/queue": "grows"}
        self.apply(gpu_job("big", gpus=8, labels=grows))
        self.apply(gpu_job("gang", gpus=8, pods=2, labels=grows))
        self.apply(gpu_job("stays", gpus=8))

        def let_go():
            pod = self.pod_of("big")
            return pod and not pod["spec"].get("schedulingGates") and pod

        pod = self.cluster.wait(let_go, 30, "the pod of big without its gate")
        self.assertNotIn("nominatedNodeName", pod["status"])
        self.wait_reason("gang", "GangCannotScaleUp")
        for waits in ("gang", "stays"):
            self.assertIs(self.job(waits)["spec"]["suspend"], True)
        self.cluster.kill("kube-scheduler")  # it could bind the pod before anybody plans
        self.cluster.add_gpu_nodes(1, 8, "A100", prefix="new")
        self.addCleanup(self.cluster.kubectl, "delete", "node", "new-0")
        self.cluster.wait(
            lambda: self.pod_of("big")["status"].get("nominatedNodeName") == "new-0",
            30, "big, and not what came behind it, to be nominated",
        )  # fmt: skip
        self.cluster.parts["kube-scheduler"].start()
        self.wait_bound("big")

    # ---- what admission adds to pods -----------------------------------------------------------

    def test_a_job_is_planned_where_its_runtime_class_sends_its_pods(self):
        self.cluster.add_gpu_nodes(1, 4, "K80", prefix="sandbox")
        self.addCleanup(self.cluster.kubectl, "delete", "node", "sandbox-0")
        self.cluster.kubectl("label", "node", "sandbox-0", "runtime=sandbox")
        self.cluster.kubectl("taint", "node", "sandbox-0", "sandbox=yes:NoSchedule")
        boxed = gpu_job("boxed")
        boxed["spec"]["template"]["spec"]["runtimeClassName"] = "sandbox"
        code, said = self.cluster.try_create(boxed)
        self.assertEqual(code, 0, said)
        self.assertIn("Warning: spec.template: the API server refuses its pods: their RuntimeClass sandbox", said)
        self.wait_reason("boxed", "PodsRejected")
        self.assertIs(self.job("boxed")["spec"]["suspend"], True)

        self.apply(runtime_class("sandbox"))
        self.addCleanup(self.cluster.kubectl, "delete", "runtimeclass", "sandbox")
        self.wait_bound("boxed")
        pod = self.pod_of("boxed")
        self.assertEqual((node_of(pod), pod["spec"]["overhead"]), ("sandbox-0", {"cpu": "250m"}))
        plan = json.loads(self.job("boxed")["metadata"]["annotations"]["slackline.dev/plan"])
        self.assertEqual(plan["nodes"], ["sandbox-0"])

    def test_the_nodes_of_a_gang_are_of_one_rack(self):
        """By names or free GPUs it would get one of each."""
        self.cluster.add_gpu_nodes(4, 4, "T4", prefix="racked")
        self.addCleanup(self.cluster.kubectl, "delete", "node", *(f"racked-{node}" for node in range(4)))
        for node in range(4):
            rack = f"cloud.google.com/gce-topology-block=rack-{node % 2}"
            self.cluster.kubectl("label", "node", f"racked-{node}", rack)
        for name in ("first", "second"):
            self.apply(gpu_job(name, 4, 2, annotations={"gpu-types": "T4", "expected-duration": "10m"}))
            self.cluster.wait_bound(name, 2, 30, TEAM)
        racks = [sorted(node_of(pod)[-1] for pod in self.cluster.pods_of(name, TEAM)) for name in ("first", "second")]
        self.assertEqual(sorted(racks), [["0", "2"], ["1", "3"]])
        listed = json.loads(self.daemon.get("/v1/nodes?search=rack-1")[1])["items"]
        self.assertEqual([(node["name"], node["block"]) for node in listed],
                         [("racked-1", "rack-1"), ("racked-3", "rack-1")])  # fmt: skip

    def test_pods_that_must_be_in_one_zone_are_planned_in_one(self):
        """Of six nodes that are alike only two are in one."""
        self.add_zones("zoned", "abcdee")
        job = gpu_job("zoned", 4, 2, annotations={"gpu-types": "T4", "expected-duration": "10m"})
        term = {"labelSelector": {"matchLabels": {"job-name": "zoned"}}, "topologyKey": "example.com/zone"}
        only = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        job["spec"]["template"]["spec"]["affinity"] = {"podAffinity": only}
        self.apply(job)
        self.cluster.wait_bound("zoned", 2, 30, TEAM)
        plan = json.loads(self.job("zoned")["metadata"]["annotations"]["slackline.dev/plan"])
        self.assertEqual(sorted(plan["nodes"]), ["zoned-4", "zoned-5"])

    def test_pods_that_are_spread_over_zones_are_planned_so(self):
        """By anti-affinity, and by topology spread: the node that comes first is beside one of its zone."""
        zones = "aabb"
        self.add_zones("spread", zones)

        def in_zones(name, **rules):
            notes = {"gpu-types": "T4", "expected-duration": "10m"}
            job = gpu_job(name, 4, 2, annotations=notes)
            # Other nodes are in no zone: they are no domain of the rule.
            key = {"key": "example.com/zone", "operator": "Exists"}
            only = {"nodeSelectorTerms": [{"matchExpressions": [key]}]}
            affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": only}}
            affinity |= rules.pop("affinity", {})
            job["spec"]["template"]["spec"] |= {"affinity": affinity} | rules
            self.apply(job)
            pods = self.cluster.wait_bound(name, 2, 20, TEAM)
            return sorted(zones[int(node_of(pod)[-1])] for pod in pods)

        def rule(name):
            return {"labelSelector": {"matchLabels": {"job-name": name}}, "topologyKey": "example.com/zone"}

        apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [rule("apart")]}}
        self.assertEqual(in_zones("apart", affinity=apart), ["a", "b"])
        even = [rule("even") | {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]
        self.assertEqual(in_zones("even", topologySpreadConstraints=even), ["a", "b"])

    def test_a_job_is_planned_on_a_node_that_reaches_its_volume(self):
        """Of six nodes that are alike one: without that, kube-scheduler refuses one node after the other."""
        self.add_zones("disked", "aaaaba")
        self.apply(*disk("work", "example.com/zone", "b"))
        self.addCleanup(self.cluster.kubectl, "delete", "pv", "work", "--wait=false")
        self.addCleanup(self.cluster.kubectl, "delete", "pvc", "work", "-n", TEAM, "--wait=false")
        notes = {"gpu-types": "T4", "expected-duration": "10m"}
        claims = {"name": "work", "persistentVolumeClaim": {"claimName": "work"}}
        for name in ("first", "second"):
            job = gpu_job(name, 4, annotations=notes)
            job["spec"]["template"]["spec"]["volumes"] = [claims]
            self.apply(job)
        (pod,) = self.cluster.wait_bound("first", timeout=20, namespace=TEAM)
        self.assertEqual(node_of(pod), "disked-4")
        self.wait_reason("second", "WaitsItsTurn")
        nodes = json.loads(self.daemon.get(f"/v1/tasks/{TEAM}/second/explain")[1])["nodes"]
        found = {each["constraint"]: each["nodes"] for each in nodes}
        self.assertEqual((found["VolumeNodeAffinity"], found["Full"]), (5, 1))

    def test_of_jobs_that_come_together_those_start_that_the_cpu_of_a_node_is_for(self):
        names = ("first", "second", "third")
        jobs = [self.without_cpu(name) for name in names]
        for job in jobs:
            job["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "30"}
        self.apply(*jobs)

        def running():
            return [name for name in names if any(node_of(pod) for pod in self.cluster.pods_of(name, TEAM))]

        self.cluster.wait(lambda: len(running()) == 2, 20, "two of them to run")
        (waits,) = set(names) - set(running())
        self.wait_reason(waits, "WaitsItsTurn")
        self.assertIs(self.job(waits)["spec"]["suspend"], True)
        self.cluster.kubectl("delete", "job", running()[0], "-n", TEAM, "--wait")
        self.wait_bound(waits)

    def test_what_a_limit_range_fills_in_and_refuses_is_known_before_there_is_a_pod(self):
        self.apply(limit_range("small", cpu="40", gpus="2"))
        self.addCleanup(self.cluster.kubectl, "delete", "limitrange", "small", "-n", TEAM)
        self.apply(self.without_cpu("one"))
        self.wait_bound("one")
        self.assertEqual(self.pod_of("one")["spec"]["containers"][0]["resources"]["requests"], {"cpu": "40", GPU: "1"})
        self.apply(self.without_cpu("two"))
        self.wait_reason("two", "WaitsItsTurn")
        self.assertIs(self.job("two")["spec"]["suspend"], True, "the node has CPU for one of them")
        code, said = self.cluster.try_create(self.without_cpu("three", gpus=3))
        self.assertEqual(code, 0, said)
        self.assertIn("a container asks for 3 nvidia.com/gpu; the LimitRange small allows at most 2", said)
        self.wait_reason("three", "PodsRejected")

    def test_a_job_that_a_policy_of_others_does_not_let_start_keeps_its_room_from_nobody(self):
        self.apply(*policy_against_starting("barred"))
        self.addCleanup(self.cluster.kubectl, "delete", "validatingadmissionpolicy", "stays-suspended")
        self.addCleanup(self.cluster.kubectl, "delete", "validatingadmissionpolicybinding", "stays-suspended")
        self.apply(gpu_job("barred", gpus=4, annotations={"hold": "true"}))
        probe = ("label", "job", "barred", "-n", TEAM, "probe=yes", "--dry-run=server")
        self.cluster.wait(lambda: self.cluster.try_kubectl(*probe)[0] != 0, 30, "the policy to be obeyed")
        self.cluster.kubectl("annotate", "job", "barred", "-n", TEAM, "slackline.dev/hold-")
        self.wait_reason("barred", "ReleaseRefused")
        self.apply(gpu_job("other", gpus=4))
        self.wait_bound("other")
        said = self.cluster.kubectl("describe", "job", "barred", "-n", TEAM)
        self.assertRegex(
            said, r"Warning +ReleaseRefused .*the API server refuses to let it start: .*not on this cluster"
        )
        self.assertIs(self.job("barred")["spec"]["suspend"], True)

    def test_what_only_devices_could_serve_is_left_to_kube_scheduler(self):
        self.apply(device_class("chips", AMD))
        self.addCleanup(self.cluster.kubectl, "delete", "deviceclass", "chips")
        chips = gpu_job("chips")
        chips["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {AMD: "1"}}
        self.apply(chips)
        self.cluster.wait(lambda: not self.job("chips")["spec"]["suspend"], 30, "the Job to be given back")
        self.assertNotIn("chips", self.rows())
        self.assertIn("1 task is left to kube-scheduler", self.say("queue"))
        self.assertIn("devices of the DeviceClass chips", self.say("queue", f"{TEAM}/chips"))

        self.apply(device_on("k80-0", "chips"))
        self.addCleanup(self.cluster.kubectl, "delete", "resourceslice", "chips-k80-0")
        self.wait_bound("chips")
        self.assertNotIn("slackline.dev/plan", self.job("chips")["metadata"]["annotations"])

    def test_pods_of_a_job_that_come_one_after_another_keep_its_place_and_its_quota(self):
        self.apply(gpu_quota("four", 4))
        self.addCleanup(self.cluster.kubectl, "delete", "resourcequota", "four", "-n", TEAM)
        path = f"/api/v1/namespaces/{TEAM}/resourcequotas/four"
        self.cluster.wait(lambda: self.cluster.request("GET", path)[1].get("status", {}).get("used"), 20, "the quota")
        self.apply(self.for_a_while("first", "5s"))
        self.wait_bound("first")
        self.apply(self.for_a_while("folds", "5s", at_a_time=2, deadline="90s"), self.for_a_while("behind", "5s"))
        self.cluster.wait(lambda: {"folds", "behind"} <= self.rows().keys(), 20, "both to be queued")
        self.assertIs(self.job("folds")["spec"]["suspend"], True, "the quota would refuse its pods")
        self.cluster.wait(lambda: self.job("behind")["status"].get("succeeded"), 90, "the last one to end")
        folds = [pod["status"]["startTime"] for pod in self.cluster.pods_of("folds", TEAM)]
        self.assertEqual(len(folds), 4)
        self.assertGreater(self.job("behind")["status"]["startTime"], max(folds))

    # ---- words the tests are written in --------------------------------------------------------

    def fill_the_cluster(self, gpus=4):
        """Pods of a namespace that nobody manages; returns their names."""
        pods = [gpu_pod(f"filler-{i}", namespace="others") for i in range(gpus)]
        self.cluster.apply(pods)
        self.cluster.wait(
            lambda: sum(bool(node_of(pod)) for pod in self.cluster.list("pod", "others")) == gpus,
            30, "the fillers to be bound",
        )  # fmt: skip
        self.cluster.wait(lambda: self.gpu_pods_seen() == gpus, 10, "the daemon to see them")
        return [name_of(pod) for pod in pods]

    def gpu_pods_seen(self):
        nodes = json.loads(self.daemon.get("/v1/nodes")[1])["items"]
        return sum(len(node["gpuPods"]) for node in nodes)

    def without_gpus(self, name, duration=None, deadline_s=None):
        spec = {"activeDeadlineSeconds": deadline_s} if deadline_s else {}
        job = gpu_job(name, scheduler="gpu-scheduler", spec=spec)
        job["spec"]["template"]["spec"]["containers"][0]["resources"] = {}
        if duration:
            job["spec"]["template"]["metadata"]["annotations"] = {DURATION: duration}
        return job

    @staticmethod
    def for_a_while(name, duration, at_a_time=1, deadline=None):
        """Four GPUs in all; of several pods at a time twice as many come."""
        told = {"expected-duration": duration, **({"deadline-after": deadline} if deadline else {})}
        pods = {"parallelism": at_a_time, "completions": at_a_time**2}
        job = gpu_job(name, gpus=4 // at_a_time, annotations=told, spec=pods)
        job["spec"]["template"]["metadata"]["annotations"][DURATION] = duration
        return job

    @staticmethod
    def without_cpu(name, gpus=1):
        job = gpu_job(name, gpus=gpus)
        job["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {GPU: str(gpus)}}
        return job

    def say(self, *question):
        done = subprocess.run(
            [slackline_binary(), *question, "-s", self.daemon.api_url], text=True, capture_output=True, check=False
        )
        return done.stdout + done.stderr

    def add_zones(self, prefix, zones):
        """Nodes of four T4, each in the zone of its letter."""
        self.cluster.add_gpu_nodes(len(zones), 4, "T4", prefix=prefix)
        self.addCleanup(self.cluster.kubectl, "delete", "node", *(f"{prefix}-{node}" for node in range(len(zones))))
        for node, zone in enumerate(zones):
            self.cluster.kubectl("label", "node", f"{prefix}-{node}", f"example.com/zone={zone}")

    def pod_of(self, job):
        return next(iter(self.cluster.pods_of(job, TEAM)), None)

    def wait_bound(self, job):
        self.cluster.wait_bound(job, timeout=60, namespace=TEAM)


def policy_against_starting(name):
    """A policy of somebody else that takes a Job of this name, and lets nobody unsuspend it."""
    starts = (
        f"object.metadata.name == '{name}' && !object.spec.suspend || 'probe' in object.metadata.?labels.orValue({{}})"
    )
    rule = {"apiGroups": ["batch"], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["jobs"]}
    return denying_policy("stays-suspended", rule, f"!({starts})", "not on this cluster")


if __name__ == "__main__":
    unittest.main()
