"""Right-sizing from end to end: what the first run used decides what the second one gets, and a run
that was too small goes back to what was written."""

import json
import pathlib
import shutil
import unittest

from support.active import start_active
from support.active_case import GPU_TYPE, GPUS_PER_NODE
from support.bound_pods import BoundPods
from support.controlplane import KUBERNETES, MINOR, TEMPLATES_ARE_OPEN, ControlPlane
from support.daemon import slackline
from support.exporter import Exporter, Prometheus
from support.objects import DURATION, TEAM, bound_and_live, gpu_job, gpus_of, name_of

STEP_S = 4  # four scrapes
USED = (25, 0.2, 1)  # of its GPUs and their memory, a quarter and a fifth; one core, 1 GiB
WRITTEN = {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "4"}
TUNED = {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "2"}
OUT_OF_MEMORY = {"terminated": {"exitCode": 137, "reason": "OOMKilled", "startedAt": None, "finishedAt": None}}


@unittest.skipUnless(shutil.which("prometheus"), "no prometheus on this machine")
class ResizeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ControlPlane()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.add_gpu_nodes(2, GPUS_PER_NODE, GPU_TYPE)
        cls.exporter = Exporter()
        cls.addClassCleanup(cls.exporter.close)
        directory = pathlib.Path(cls.cluster.directory) / "prometheus"
        prometheus = Prometheus(cls.exporter, directory, honor_labels=False).start()
        cls.addClassCleanup(prometheus.kill)
        prometheus.wait_scraped()
        cls.use = {}
        pods_seen = BoundPods(cls.cluster, cls.exporter, cls.use, TEAM)
        pods_seen.start()
        cls.addClassCleanup(pods_seen.over.set)
        cls.daemon = start_active(
            cls.cluster, TEAM,
            settings=f"telemetry: {{prometheus: {{url: '{prometheus.url}'}}, step: {STEP_S}s}}\n"
                     "store: {leastEvidence: 5s}\n",
        )  # fmt: skip
        cls.cluster.kubectl("annotate", "namespace", TEAM, "slackline.dev/resize=auto")

    # ---- what is there ---------------------------------------------------------------------------

    @staticmethod
    def nightly(name, duration, **annotations):
        job = gpu_job(name, gpus=4, annotations={"family": "nightly", "placements": "auto"} | annotations)
        job["spec"]["template"]["metadata"]["annotations"][DURATION] = duration
        [container] = job["spec"]["template"]["spec"]["containers"]
        container["resources"] = {"requests": dict(WRITTEN), "limits": dict(WRITTEN)}
        return job

    def run_job(self, name, duration):
        self.use[name] = USED
        self.cluster.apply([self.nightly(name, duration)])

    def pod_of(self, job):
        live = [pod for pod in bound_and_live(self.cluster.list("pod", TEAM)) if name_of(pod).startswith(job)]
        return live[0] if live else None

    def resources_of(self, job):
        template = self.cluster.get("job", TEAM, job)["spec"]["template"]
        return template["spec"]["containers"][0]["resources"]

    def portrait(self, family="nightly"):
        items = json.loads(self.daemon.get(f"/v1/portraits/{family}")[1]).get("items")
        return items[0] if items else {}

    def row_of(self, job):
        items = json.loads(self.daemon.get("/v1/queue")[1])["items"]
        return next((row for row in items if row["name"] == job), {})

    def reasons(self, job):
        events = self.cluster.list("event", TEAM)
        return [event["reason"] for event in events if event["involvedObject"]["name"] == job]

    def resizes(self, outcome):
        return self.daemon.total("slackline_resizes_total", outcome=outcome)

    def wait_for(self, condition, what, timeout=60):
        return self.cluster.wait(condition, timeout, what)

    # ---- the chain -------------------------------------------------------------------------------

    def test_a_family_gets_what_it_used_and_goes_back_when_that_is_too_small(self):
        self.the_first_run_shows_what_it_needs()
        self.people_are_told()
        self.the_second_run_gets_less()
        self.it_runs_out_of_memory_and_goes_on_as_written()
        self.the_third_run_is_as_written()

    def the_first_run_shows_what_it_needs(self):
        self.run_job("nightly-1", "20s")
        self.wait_for(lambda: self.pod_of("nightly-1"), "the first run to be bound")
        self.assertEqual(gpus_of(self.pod_of("nightly-1")), 4)
        self.wait_for(lambda: self.portrait().get("advice"), "its portrait")
        advice = {each["resource"]: each for each in self.portrait()["advice"]}
        self.assertEqual((advice["gpus"]["asked"], advice["gpus"]["advised"]), (4, 2))
        self.assertEqual(advice["gpus"]["confidence"], "low", "one run")
        self.assertIn("the last run used 1.0 of 4 GPUs", advice["gpus"]["text"])
        self.assertIn("2 GPUs instead of 4", slackline("portraits", f"{TEAM}/nightly", "-o", "wide",
                                                       "--server", self.daemon.api_url))  # fmt: skip

    def people_are_told(self):
        probe = self.nightly("probe", "600s", resize="advise")
        status, said = self.cluster.try_kubectl("apply", "-f", "-", input=json.dumps(probe))
        self.assertEqual(status, 0, said)
        self.assertIn("Warning: slackline.dev/resize: asks for 4 GPUs, the last run used 1.0", said)
        self.use["probe"] = USED
        self.wait_for(lambda: "ResizeSuggested" in self.reasons("probe"), "the Event")
        rows = json.loads(slackline("advice", f"{TEAM}/probe", "--server", self.daemon.api_url, "-o", "json"))["items"]
        of_gpus = next(row for row in rows if row["resource"] == "gpus")
        self.assertEqual((of_gpus["advised"], of_gpus["runs"], of_gpus["basis"]), (2, 1, "past"))
        self.assertGreater(of_gpus["gpuHoursReturned"], 0)
        self.wait_for(lambda: self.pod_of("probe"), "the Job to run")
        self.assertEqual(self.resources_of("probe")["requests"], WRITTEN, "its own mode wins: nothing changes")
        self.cluster.kubectl("delete", "job", "probe", "-n", TEAM, "--wait=false")

    def the_second_run_gets_less(self):
        self.run_job("nightly-2", "600s")
        self.wait_for(lambda: self.pod_of("nightly-2"), "the second run to be bound")
        self.assertEqual(gpus_of(self.pod_of("nightly-2")), 2)
        [container] = self.pod_of("nightly-2")["spec"]["containers"]
        given = container["resources"]["requests"]
        self.assertEqual(given["nvidia.com/gpu"], "2")
        self.assertLess(int(given["memory"].removesuffix("Mi")), 2048, "15 % above 1 GiB")
        in_template = given if TEMPLATES_ARE_OPEN else WRITTEN
        self.assertEqual(self.resources_of("nightly-2")["requests"], in_template)
        notes = self.cluster.get("job", TEAM, "nightly-2")["metadata"]["annotations"]
        original = json.loads(notes.get("slackline.dev/original", "{}"))
        if TEMPLATES_ARE_OPEN:
            self.assertEqual((original["gpus"], original["amounts"]["memoryRequest"]), (4, "16Gi"))
        else:
            self.assertEqual(original, {}, "what was written is still in the template")
        self.wait_for(lambda: "Resized" in self.reasons("nightly-2"), "the Event")
        self.assertEqual(self.resizes("applied"), 1)
        self.assertEqual(
            self.row_of("nightly-2")["resize"], {"mode": "auto", "state": "applied", "advice": [], "asked": "1x4"}
        )

    def it_runs_out_of_memory_and_goes_on_as_written(self):
        pod = name_of(self.pod_of("nightly-2"))
        ended = json.loads(json.dumps(OUT_OF_MEMORY))
        now = self.cluster.get("pod", TEAM, pod)["status"]["startTime"]
        ended["terminated"].update(startedAt=now, finishedAt=now)
        status = {"phase": "Failed", "containerStatuses": [
            {"name": "train", "image": "busybox:1.37", "imageID": "", "ready": False, "restartCount": 0, "state": ended}
        ]}  # fmt: skip
        self.cluster.kubectl("patch", "pod", pod, "-n", TEAM, "--subresource=status", "-p",
                             json.dumps({"status": status}))  # fmt: skip
        self.wait_for(lambda: "ResizeRolledBack" in self.reasons("nightly-2"), "it to be taken back")
        self.wait_for(lambda: gpus_of(self.pod_of("nightly-2") or {"spec": {"containers": []}}) == 4,
                      "it to go on as written")  # fmt: skip
        self.assertEqual(self.resources_of("nightly-2"), {"requests": WRITTEN, "limits": WRITTEN}, "byte for byte")

    def the_third_run_is_as_written(self):
        self.run_job("nightly-3", "600s")
        self.wait_for(lambda: self.pod_of("nightly-3"), "the third run to be bound")
        self.assertEqual(gpus_of(self.pod_of("nightly-3")), 4)
        self.assertEqual(self.resources_of("nightly-3")["requests"], WRITTEN)
        pod = name_of(self.pod_of("nightly-2"))
        self.cluster.kubectl("annotate", "pod", pod, "-n", TEAM, "--overwrite", f"{DURATION}=0s")
        self.wait_for(lambda: self.portrait().get("resizeFailure") == "OOMKilled", "the portrait to know it")
        self.assertIn("resizeFrozenUntil", self.portrait())
        self.assertEqual(self.resizes("OOMKilled"), 1)
        self.assertEqual(self.resizes("kept"), 0)

    # ---- somebody else resizes its pods --------------------------------------------------------------

    @unittest.skipIf(MINOR < 36, f"{KUBERNETES} has no MutatingAdmissionPolicy of v1 (from 1.36 on)")
    def test_a_family_whose_pods_a_policy_of_the_cluster_resizes_is_left_alone(self):
        self.cluster.apply(other_resizer("memory", "8Gi"))
        self.wait_for(self.policy_is_in_force, "the policy to be in force")
        self.run_tuned("tuned-1", "15s")
        self.wait_for(lambda: self.pod_of("tuned-1"), "the first run to be bound")
        [container] = self.pod_of("tuned-1")["spec"]["containers"]
        self.assertEqual(container["resources"]["requests"]["memory"], "8Gi", "the policy changed the pod")
        self.wait_for(lambda: self.portrait("tuned").get("advice"), "its portrait")
        self.run_tuned("tuned-2", "600s", hold="true")
        self.wait_for(lambda: self.row_of("tuned-2").get("resize"), "the second run to be in the queue")
        self.assertEqual(self.row_of("tuned-2")["resize"]["state"], "othersChanged")
        self.cluster.kubectl("annotate", "job", "tuned-2", "-n", TEAM, "slackline.dev/hold-")
        self.wait_for(lambda: self.pod_of("tuned-2"), "the second run to be bound")
        self.assertEqual(self.resources_of("tuned-2"), {"requests": TUNED, "limits": TUNED}, "nothing was resized")

    def policy_is_in_force(self):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe", "namespace": "default"}}
        pod |= self.tuned("probe", "0s")["spec"]["template"] | {
            "metadata": pod["metadata"] | {"labels": {"tuned": "yes"}}
        }
        status, said = self.cluster.try_kubectl(
            "create", "--dry-run=server", "-f", "-", "-o", "yaml", input=json.dumps(pod)
        )
        self.assertEqual(status, 0, said)
        return "8Gi" in said

    def run_tuned(self, name, duration, **annotations):
        self.use[name] = USED
        self.cluster.apply([self.tuned(name, duration, **annotations)])

    def tuned(self, name, duration, **annotations):
        job = self.nightly(name, duration, family="tuned", **annotations)
        job["spec"]["template"]["metadata"]["labels"] = {"tuned": "yes"}
        [container] = job["spec"]["template"]["spec"]["containers"]
        container["resources"] = {"requests": dict(TUNED), "limits": dict(TUNED)}
        return job


def other_resizer(resource, amount):
    """What gives the pods with the label `tuned` other amounts than their Jobs have, as a VerticalPodAutoscaler does."""
    path = f"/spec/containers/0/resources/{{kind}}/{resource}"
    changes = ", ".join(f'JSONPatch{{op: "replace", path: "{path.format(kind=kind)}", value: "{amount}"}}'
                        for kind in ("requests", "limits"))  # fmt: skip
    api = "admissionregistration.k8s.io/v1"
    pods = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    return [
        {
            "apiVersion": api,
            "kind": "MutatingAdmissionPolicy",
            "metadata": {"name": "other-resizer"},
            "spec": {
                "matchConstraints": {"resourceRules": [pods]},
                "matchConditions": [{"name": "tuned", "expression": "object.metadata.?labels.tuned.hasValue()"}],
                "reinvocationPolicy": "Never",
                "failurePolicy": "Fail",
                "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": f"[{changes}]"}}],
            },
        },
        {
            "apiVersion": api,
            "kind": "MutatingAdmissionPolicyBinding",
            "metadata": {"name": "other-resizer"},
            "spec": {"policyName": "other-resizer"},
        },
    ]


if __name__ == "__main__":
    unittest.main()
