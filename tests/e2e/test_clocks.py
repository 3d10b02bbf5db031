"""Clocks that run while pods wait behind the gate are told by deploy/policy/clocks.yaml: a real kube-apiserver with the
projects' own definitions; no daemon runs. What is created is not run, and nothing is refused."""

import copy
import unittest

from test_gangs import CRDS, KINDS, MAKERS, define
from test_policies import ELSEWHERE, POLICIES

from support import warned
from support.controlplane import ControlPlane
from support.objects import MANAGED, TEAM, gpu_pod

POD = {"spec": gpu_pod("x")["spec"]}
TWO = {"replicas": 2, "template": POD}
RAY = {"headGroupSpec": {"rayStartParams": {}, "template": POD}}
WARMUP = "workload.codeflare.dev.appwrapper/warmupGracePeriodDuration"
ADDED = "preRunningDeadlineSeconds"  # by KubeRay 1.6, and so not in the definition here
SPECS = {
    "PyTorchJob": {"pytorchReplicaSpecs": {"Worker": TWO}},
    "MPIJob": {"mpiReplicaSpecs": {"Launcher": TWO | {"replicas": 1}, "Worker": TWO}},
    "TrainJob": {"runtimeRef": {"name": "torch-distributed"}},
    "JobSet": {"replicatedJobs": [{"name": part, "template": {"spec": {"template": POD}}} for part in "ab"]},
    "RayJob": {"rayClusterSpec": RAY},
    "RayService": {"rayClusterConfig": RAY},
    "AppWrapper": {"components": [{"template": {"apiVersion": "v1", "kind": "Pod"}}]},
}
# Where the clock is of each kind; a key with a slash is an annotation.
CLOCKS = {
    "PyTorchJob": [("runPolicy", "activeDeadlineSeconds")],
    "MPIJob": [("runPolicy", "activeDeadlineSeconds")],
    "TrainJob": [("activeDeadlineSeconds",)],
    "JobSet": [("replicatedJobs", 1, "template", "spec", "activeDeadlineSeconds")],
    "RayJob": [("activeDeadlineSeconds",), (ADDED,)],
    "RayService": [("ray.io/initializing-timeout",)],
}
# A stand-in, as its definition comes in no module: it takes any field.
APPWRAPPERS = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: appwrappers.workload.codeflare.dev}
spec:
  group: workload.codeflare.dev
  names: {kind: AppWrapper, listKind: AppWrapperList, plural: appwrappers, singular: appwrapper}
  scope: Namespaced
  versions:
  - name: v1beta2
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""


class ClocksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ControlPlane()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.add_namespace(TEAM, MANAGED)
        cls.cluster.add_namespace(ELSEWHERE)
        cls.cluster.kubectl("apply", "--validate=strict", "-k", POLICIES)
        define(cls.cluster, *(kind for kind in SPECS if kind != "AppWrapper"))
        cls.cluster.apply(APPWRAPPERS)
        text = (CRDS / "github.com/ray-project/kuberay/ray-operator/config/crd/bases/ray.io_rayjobs.yaml").read_text()
        at = "\n              activeDeadlineSeconds:\n"
        assert text.count(at) >= 1 and ADDED not in text, "the definition has changed"
        newer = text.replace(at, f"\n              {ADDED}: {{type: integer}}{at}")
        cls.cluster.kubectl("replace", "-f", "-", input=newer)
        for kind in SPECS:
            cls.cluster.wait(lambda kind=kind: cls.is_told(kind), 60, f"the policy of {kind}s to hold")

    @classmethod
    def is_told(cls, kind):
        try:
            return all(len(cls.warnings(each)) == 1 for each in cls.each(kind, 600))
        except AssertionError:  # the definition is not served yet
            return False

    def test_a_clock_that_runs_while_pods_wait_is_told(self):
        for kind, clocks in CLOCKS.items():
            for clock, made in zip(clocks, self.each(kind, 600), strict=True):
                with self.subTest(kind=kind, clock=clock):
                    (said,) = self.warnings(made)
                    self.assertIn(f"{clock[-1]} counts from the start of this object", said)
                    self.assertIn("leave it out, or add the longest wait to it", said)
        both = self.object("RayJob", {"activeDeadlineSeconds": 600, ADDED: 300})
        (said,) = self.warnings(both)
        self.assertIn(f"the time in spec.activeDeadlineSeconds and spec.{ADDED} counts", said)

    def test_without_a_clock_or_where_nobody_is_looked_after_nobody_is_told(self):
        for kind in CLOCKS:
            with self.subTest(kind):
                self.assertEqual(self.warnings(self.object(kind)), [])
                for made in self.each(kind, 600):
                    made["metadata"]["namespace"] = ELSEWHERE
                    self.assertEqual(self.warnings(made), [])
        elsewhere = self.object("AppWrapper")
        elsewhere["metadata"]["namespace"] = ELSEWHERE
        self.assertEqual(self.warnings(elsewhere), [])

    def test_an_update_is_told_only_of_a_clock_that_it_changes(self):
        for kind, clocks in CLOCKS.items():
            for number, (clock, made) in enumerate(zip(clocks, self.each(kind, 600), strict=True)):
                with self.subTest(kind=kind, clock=clock):
                    made["metadata"]["name"] = f"kept-{number}"
                    self.assertEqual(len(self.warnings(made, dry=False)), 1)
                    self.assertEqual(self.change(made, {"metadata": {"annotations": {"note": "hello"}}}), [])
                    if kind in ("JobSet", "TrainJob"):  # whose clock cannot be changed
                        continue
                    path = ("metadata", "annotations", *clock) if "/" in clock[-1] else ("spec", *clock)
                    self.assertEqual(len(self.change(made, self.nested(path, self.value(clock, 900)))), 1)
                    self.assertEqual(self.change(made, self.nested(path, None)), [])

    def test_a_clock_that_starts_after_the_wait_is_not_told(self):
        deadline = {"activeDeadlineSeconds": 600}
        later = {"launcherCreationPolicy": "WaitForWorkersReady", "runPolicy": deadline}
        self.assertEqual(self.warnings(self.object("MPIJob", later)), [])
        chosen = self.object("RayJob", {**deadline, "clusterSelector": {"ray.io/cluster": "shared"}})
        self.assertEqual(self.warnings(chosen), [])

    def test_what_a_controller_made_is_its_own_affair(self):
        owner = {"apiVersion": "example.com/v1", "kind": "Made", "name": "it", "uid": "u", "controller": True}
        for kind in SPECS:
            for made in self.each(kind, 600):
                with self.subTest(kind):
                    made["metadata"]["ownerReferences"] = [owner]
                    self.assertEqual(self.warnings(made), [])

    def test_an_appwrapper_is_told_until_it_is_patient(self):
        for patience, told in ((None, 1), ("5m", 1), ("300s", 1), ("soon", 1), ("12h", 0), ("1h30m", 0)):
            with self.subTest(patience):
                said = self.warnings(self.object("AppWrapper", notes={WARMUP: patience} if patience else {}))
                self.assertEqual(len(said), told, said)
                if told:
                    self.assertIn(f"write the longest wait in the annotation {WARMUP}", said[0])
        made = self.object("AppWrapper")
        made["metadata"]["name"] = "patient"
        self.assertEqual(len(self.warnings(made, dry=False)), 1)
        self.assertEqual(self.change(made, {"metadata": {"finalizers": ["workload.codeflare.dev/finalizer"]}}), [])
        self.assertEqual(len(self.change(made, {"metadata": {"annotations": {WARMUP: "2m"}}})), 1)
        self.assertEqual(self.change(made, {"metadata": {"annotations": {WARMUP: "8h"}, "finalizers": None}}), [])

    # ---- words the tests are written in --------------------------------------------------------

    @staticmethod
    def object(kind, spec=None, notes=None):
        group, version, _ = (KINDS | MAKERS | {"AppWrapper": ("workload.codeflare.dev", "v1beta2", "")})[kind]
        metadata = {"name": "made", "namespace": TEAM, "annotations": notes or {}}
        spec = {**copy.deepcopy(SPECS[kind]), **(spec or {})}
        return {"apiVersion": f"{group}/{version}", "kind": kind, "metadata": metadata, "spec": spec}

    @classmethod
    def each(cls, kind, seconds):
        """An object for each clock of the kind."""
        found = []
        for clock in CLOCKS.get(kind, [()]):
            made = cls.object(kind)
            if clock:
                inner = made["metadata"]["annotations"] if "/" in clock[-1] else made["spec"]
                for key in clock[:-1]:
                    inner = inner[key] if isinstance(inner, list) else inner.setdefault(key, {})
                inner[clock[-1]] = cls.value(clock, seconds)
            found.append(made)
        return found

    @staticmethod
    def value(clock, seconds):
        return f"{seconds}s" if "/" in clock[-1] else seconds

    @staticmethod
    def nested(path, value):
        for key in reversed(path):
            value = {key: value}
        return value

    @classmethod
    def warnings(cls, what, dry=True):
        return warned.on_create(cls.cluster, what, dry)

    @classmethod
    def change(cls, made, patch):
        return warned.on_change(cls.cluster, made, patch)


if __name__ == "__main__":
    unittest.main()
