"""The policies of deploy/policy, evaluated by a real kube-apiserver; no daemon runs."""

import copy
import json
import re
import unittest

from test_gangs import KINDS, define

from support import warned
from support.controlplane import ROOT, ControlPlane
from support.objects import MANAGED, TEAM, gpu_job, gpu_pod, waiting_job

POLICIES = ROOT / "deploy" / "policy"
ELSEWHERE = "others"
JOB_CONTROLLER = "system:serviceaccount:kube-system:job-controller"
GUARDED = {"band", "plan", "progress", "preemptions", "preempt-at", "preempt-for", "device-ids", "forecast", "variant"}
# Where the people's keys belong, by the kind of object that they are written on.
PLACES = {
    "CronJob": "spec.jobTemplate.metadata",
    "Deployment": "spec.template.metadata",
    "StatefulSet": "spec.template.metadata",
    "PyTorchJob": "the metadata of its pod templates",
}
FORGED = json.dumps({"id": "e", "epoch": 1, "shape": "1x1", "type": "A100", "nodes": ["n"]})


def contract_keys():
    """The reserved keys as the daemon has them; a unit test holds the page against the table."""
    page = (ROOT / "docs/KEYS.md").read_text()
    written = re.findall(r"^\| `([\w-]+)` \| (?:webhook|planner) ", page, re.MULTILINE)
    return set(written) - {"deadline-basis", "calibration-of"}


class PolicyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ControlPlane()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.install_rbac()
        cls.token = cls.cluster.service_account_token("slackline-system", "slackline")
        cls.cluster.add_namespace(TEAM, MANAGED)
        cls.cluster.add_namespace(ELSEWHERE)
        cls.cluster.kubectl("apply", "--validate=strict", "-k", POLICIES)
        for name in ("job", "pod"):
            cls.cluster.wait(
                lambda name=name: cls.create(name, ELSEWHERE, {"plan": FORGED}, dry=True)[0] == 422
                or cls.create(name, ELSEWHERE, {"plan": FORGED}, dry=True)[0] == 403,
                30, f"the policy of {name}s to hold",
            )  # fmt: skip
        define(cls.cluster, "PyTorchJob")
        for kind in PLACES:
            cls.cluster.wait(lambda kind=kind: cls.warnings(cls.maker(kind, {"family": "x"})), 30, f"that of {kind}s")
        # The policies of Slackline's own writes are read at the same time; one question each makes sure.
        job = cls.make(waiting_job("first", namespace=TEAM))
        cls.cluster.wait(lambda: cls.patch(job, {"spec": {"backoffLimit": 3}})[0] != 200, 30, "it")
        pod = cls.make(cls.gated("first"))
        cls.cluster.wait(lambda: cls.patch(pod, {"metadata": {"labels": {"probe": "x"}}})[0] != 200, 30, "it")

    # ---- reserved keys -------------------------------------------------------------------------

    def test_the_policy_knows_every_reserved_key(self):
        for key in sorted(contract_keys()):
            for kind in ("job", "pod"):
                with self.subTest(kind=kind, key=key):
                    status, said = self.create(kind, ELSEWHERE, {key: "x"}, dry=True)
                    self.assertEqual(status, 403, said)
                    self.assertIn(f"only Slackline writes slackline.dev/{key};", said["message"])

    def test_where_nobody_is_looked_after_templates_are_guarded_too(self):
        job = gpu_job("sneaky", namespace=ELSEWHERE, template_annotations={"plan": FORGED})
        status, said = self.post(job, dry=True)
        self.assertEqual(status, 403, said)

    def test_in_a_labelled_namespace_what_the_webhook_writes_passes(self):
        for key in sorted(contract_keys()):
            status, said = self.create("job", TEAM, {key: "x"}, dry=True)
            self.assertEqual(status, 403 if key in GUARDED else 201, (key, said))

    def test_an_update_is_guarded_and_unchanged_values_pass(self):
        for namespace in (TEAM, ELSEWHERE):
            with self.subTest(namespace):
                job = self.make(gpu_job("touched", namespace=namespace, spec={"suspend": True}))
                said = self.patch(job, {"metadata": {"annotations": {"slackline.dev/plan": FORGED}}}, admin=True)
                self.assertEqual(said[0], 403, said)
                # Somebody who may has written it.
                self.cluster.kubectl("delete", "validatingadmissionpolicybinding",
                                     "slackline-reserved-keys-of-jobs")  # fmt: skip
                notes = {"metadata": {"annotations": {"slackline.dev/plan": FORGED}}}
                self.cluster.wait(lambda: self.patch(job, notes, admin=True)[0] == 200, 30, "no policy")  # noqa: B023
                self.cluster.kubectl("apply", "-k", POLICIES)
                self.cluster.wait(
                    lambda: self.create("job", ELSEWHERE, {"plan": FORGED}, dry=True)[0] == 403,
                    30, "the policy",
                )  # fmt: skip
                same = {"metadata": {"annotations": {"note": "hello"}}}
                self.assertEqual(self.patch(job, same, admin=True)[0], 200)
                other = {"metadata": {"annotations": {"slackline.dev/plan": FORGED + " "}}}
                self.assertEqual(self.patch(job, other, admin=True)[0], 403)
                away = {"metadata": {"annotations": {"slackline.dev/plan": None}}}
                self.assertEqual(self.patch(job, away, admin=True)[0], 200, "the way out is open")

    def test_controllers_copy_what_was_judged(self):
        pod = gpu_pod("copied", namespace=ELSEWHERE, annotations={"slackline.dev/nodes": "2"})
        path = self.cluster.collection("pod", ELSEWHERE) + "?dryRun=All"
        self.assertEqual(self.cluster.request("POST", path, pod, user=JOB_CONTROLLER)[0], 201)
        self.assertEqual(self.cluster.request("POST", path, pod)[0], 403)

    def test_without_our_keys_nobody_is_held_up(self):
        for namespace in (TEAM, ELSEWHERE, "default"):
            plain = gpu_pod("plain", namespace=namespace)
            del plain["metadata"]["annotations"]
            self.assertEqual(self.post(plain, dry=True)[0], 201)
            self.assertEqual(self.create("job", namespace, {"model": "resnet50"}, dry=True)[0], 201)

    # ---- our own writes ------------------------------------------------------------------------

    def test_our_token_may_do_what_the_planner_does(self):
        job = self.make(waiting_job("ours", pods=2, gang=True, namespace=TEAM))
        release = {
            "metadata": {"annotations": {"slackline.dev/plan": FORGED, "slackline.dev/suspended-by": None}},
            "spec": {
                "suspend": False,
                "parallelism": 1,
                "completions": 1,
                "template": {
                    "metadata": {"annotations": {"slackline.dev/nodes": "1"}},
                    "spec": {"affinity": self.affinity("gpu-1")},
                },
            },
        }
        status, said = self.patch(job, release)
        self.assertEqual(status, 200, said)
        pod = self.make(self.gated("ours"))
        for change in (
            {"metadata": {"annotations": {"slackline.dev/plan": FORGED}}},
            {"spec": {"affinity": self.affinity("gpu-1")}},
        ):
            status, said = self.patch(pod, change)
            self.assertEqual(status, 200, said)
        nominate = {"status": {"nominatedNodeName": "gpu-1"}}
        status, said = self.patch(pod, nominate, part="/status")
        self.assertEqual(status, 200, said)
        status, said = self.patch(pod, {"spec": {"schedulingGates": None}})
        self.assertEqual(status, 200, said)

    def test_our_token_changes_nothing_that_runs(self):
        job = self.make(waiting_job("stolen", namespace=TEAM))
        container = copy.deepcopy(job["spec"]["template"]["spec"]["containers"][0])
        changes = {
            "image": {"containers": [{**container, "image": "evil"}]},
            "command": {"containers": [{**container, "command": ["sh"]}]},
            "env": {"containers": [{**container, "env": [{"name": "A", "value": "b"}]}]},
            "another container": {"containers": [container, {"name": "evil", "image": "evil"}]},
            "serviceAccountName": {"serviceAccountName": "admin"},
            "volumes": {"volumes": [{"name": "root", "hostPath": {"path": "/"}}]},
            "hostNetwork": {"hostNetwork": True},
            "tolerations": {"tolerations": [{"operator": "Exists"}]},
        }
        for what, spec in changes.items():
            with self.subTest(what):
                # 422: the API server keeps that for everybody; the policy does where it would not.
                status, said = self.patch(job, {"spec": {"template": {"spec": spec}}})
                self.assertIn(status, (403, 422), said["message"][:200])
        more = {
            "label": {"metadata": {"labels": {"team": "evil"}}},
            "annotation": {"metadata": {"annotations": {"note": "evil"}}},
            "finalizer": {"metadata": {"finalizers": ["evil.example/x"]}},
            "backoff": {"spec": {"backoffLimit": 0}},
            "template label": {"spec": {"template": {"metadata": {"labels": {"app": "evil"}}}}},
        }
        for what, change in more.items():
            with self.subTest(what):
                status, said = self.patch(job, change)
                self.assertEqual(status, 403, said)

    def test_our_token_changes_nothing_else_of_pods(self):
        pod = self.gated("stolen")
        pod["spec"]["schedulingGates"].append({"name": "example.com/theirs"})
        pod = self.make(pod)
        image = {"spec": {"containers": [{**pod["spec"]["containers"][0], "image": "evil"}]}}
        for what, change, part in (
            ("image", image, ""),
            ("label", {"metadata": {"labels": {"app": "evil"}}}, ""),
            ("annotation", {"metadata": {"annotations": {"note": "evil"}}}, ""),
            ("toleration", {"spec": {"tolerations": pod["spec"]["tolerations"] + [{"operator": "Exists"}]}}, ""),
            ("their gate", {"spec": {"schedulingGates": [{"name": "slackline.dev/queue"}]}}, ""),
            ("phase", {"status": {"phase": "Succeeded"}}, "/status"),
            ("label by status", {"metadata": {"labels": {"app": "evil"}}}, "/status"),
        ):
            with self.subTest(what):
                status, said = self.patch(pod, change, part)
                self.assertEqual(status, 403, said)

    # ---- misplaced keys ------------------------------------------------------------------------

    def test_whoever_writes_keys_where_nobody_copies_them_is_told_their_place(self):
        for kind, place in PLACES.items():
            with self.subTest(kind):
                said = self.warnings(self.maker(kind, {"model": "x"}))
                self.assertEqual(len(said), 1, said)
                self.assertIn(f"Slackline does not read slackline.dev/model here; write that in {place}", said[0])
                labelled = self.maker(kind)
                labelled["metadata"]["labels"] = {"slackline.dev/queue": "x"}
                (said,) = self.warnings(labelled)
                self.assertIn("does not read slackline.dev/queue here", said)

    def test_where_they_count_or_nobody_is_looked_after_nobody_is_told(self):
        for kind in PLACES:
            with self.subTest(kind):
                self.assertEqual(self.warnings(self.maker(kind, in_place={"model": "x"})), [])
                self.assertEqual(self.warnings(self.maker(kind, {"model": "x"}, namespace=ELSEWHERE)), [])
                self.assertEqual(self.warnings(self.maker(kind)), [])
        for kind in ("CronJob", "Deployment", "StatefulSet"):
            with self.subTest(kind):
                everywhere = self.maker(kind, {"model": "x"}, in_place={"model": "x"})
                self.assertEqual(self.warnings(everywhere), [], "a tool has written it everywhere")

    def test_what_a_controller_made_is_its_own_affair(self):
        made = self.maker("StatefulSet", {"model": "x"})
        owner = {"apiVersion": "example.com/v1", "kind": "Made", "name": "it", "uid": "u", "controller": True}
        made["metadata"]["ownerReferences"] = [owner]
        self.assertEqual(self.warnings(made), [])

    def test_an_update_is_told_only_of_what_it_changes(self):
        for kind in PLACES:
            with self.subTest(kind):
                made = self.maker(kind, {"model": "x"}, name="kept")
                self.assertEqual(len(self.warnings(made, dry=False)), 1)
                self.assertEqual(self.warnings_of_note(made, "note", "hello"), [])
                self.assertEqual(self.warnings_of_note(made, "slackline.dev/model", None), [])
                (said,) = self.warnings_of_note(made, "slackline.dev/model", "y")
                self.assertIn("does not read slackline.dev/model here", said)

    def test_one_deadline_for_every_run_of_a_cronjob_is_told(self):
        fixed = {"deadline": "2040-01-01T00:00:00Z"}
        of_pods = self.maker("CronJob", name="pods")
        template = of_pods["spec"]["jobTemplate"]["spec"]["template"]
        template["metadata"] = {"annotations": self.ours(fixed)}
        for made in (self.maker("CronJob", in_place=fixed, name="jobs"), of_pods):
            name = made["metadata"]["name"]
            with self.subTest(name):
                (said,) = self.warnings(made, dry=False)
                self.assertIn("is one point in time for every run; write slackline.dev/deadline-after", said)
                self.assertEqual(self.warnings_of_note(made, "note", "hello"), [])
        self.assertEqual(self.warnings(self.maker("CronJob", in_place={"deadline-after": "6h"})), [])

    # ---- words the tests are written in --------------------------------------------------------

    @classmethod
    def maker(cls, kind, notes=None, in_place=None, namespace=TEAM, name="made"):
        """What makes Jobs or pods, with these keys on itself and where they count."""
        pod = {"metadata": {"labels": {"app": "x"}}, "spec": gpu_pod("x")["spec"]}
        if kind != "CronJob":
            pod["metadata"]["annotations"] = cls.ours(in_place)
        if kind in ("Deployment", "StatefulSet"):
            pod["spec"].pop("restartPolicy")
            spec = {"replicas": 0, "selector": {"matchLabels": {"app": "x"}}, "template": pod}
            version = "apps/v1"
        elif kind == "CronJob":
            job = {"metadata": {"annotations": cls.ours(in_place)}, "spec": {"template": pod}}
            spec = {"schedule": "0 0 1 1 *", "jobTemplate": job}
            version = "batch/v1"
        else:
            pod["spec"]["containers"][0]["name"] = "pytorch"
            spec = {"pytorchReplicaSpecs": {"Worker": {"replicas": 2, "template": pod}}}
            version = f"{KINDS[kind].group}/{KINDS[kind].version}"
        metadata = {"name": name, "namespace": namespace, "annotations": cls.ours(notes)}
        return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}

    @staticmethod
    def ours(notes):
        return {f"slackline.dev/{key}": value for key, value in (notes or {}).items()}

    @classmethod
    def warnings(cls, what, dry=True):
        return warned.on_create(cls.cluster, what, dry)

    @classmethod
    def warnings_of_note(cls, made, note, value):
        return warned.on_change(cls.cluster, made, {"metadata": {"annotations": {note: value}}})

    @staticmethod
    def affinity(node):
        term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}
        required = {"nodeSelectorTerms": [term]}
        return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}

    @staticmethod
    def gated(name):
        pod = gpu_pod(name, namespace=TEAM)
        pod["metadata"]["labels"] = {"slackline.dev/managed": "true"}
        pod["spec"]["schedulingGates"] = [{"name": "slackline.dev/queue"}]
        return pod

    @classmethod
    def create(cls, kind, namespace, notes, dry=False):
        if kind == "job":
            return cls.post(gpu_job("made", namespace=namespace, annotations=notes), dry)
        keys = {f"slackline.dev/{key}": value for key, value in notes.items()}
        return cls.post(gpu_pod("made", namespace=namespace, annotations=keys), dry)

    @classmethod
    def post(cls, what, dry=False):
        path = cls.cluster.collection(what["kind"].lower(), what["metadata"]["namespace"])
        return cls.cluster.request("POST", path + ("?dryRun=All" if dry else ""), what)

    @classmethod
    def make(cls, what):
        status, made = cls.post(what)
        assert status == 201, made
        return {**made, "kind": what["kind"]}

    @classmethod
    def patch(cls, what, change, part="", admin=False):
        """With our token, unless as the administrator."""
        metadata = what["metadata"]
        path = cls.cluster.collection(what["kind"].lower(), metadata["namespace"])
        path = f"{path}/{metadata['name']}{part}"
        return cls.cluster.request("PATCH", path, change, token=None if admin else cls.token)


if __name__ == "__main__":
    unittest.main()
