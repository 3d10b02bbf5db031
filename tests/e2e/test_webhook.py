"""The admission webhook, called by a real kube-apiserver as deploy/webhook configures it."""

import datetime
import json
import ssl
import unittest

from support.active import NOBODY_PLANS, let_nobody_plan, start_active
from support.controlplane import (
    DAEMON_USER,
    TEMPLATES_ARE_OPEN,
    ControlPlane,
    gpu_scheduler_config,
    stock_scheduler_config,
)
from support.daemon import Daemon, slackline
from support.installation import WEBHOOK, wait_webhook, webhook_manifests
from support.objects import MANAGED, TEAM, gpu_job, node_of
from support.process import free_ports

DRY_RUN = "--dry-run=server"
MAX_PENDING = 8
SETTINGS = f"""\
queue: {{maxPending: {MAX_PENDING}}}
queues: [{{name: small}}]
planner: {{lease: {NOBODY_PLANS}}}
webhook:
  certificate:
    names: [127.0.0.1, slackline-webhook.slackline-system.svc]
"""


class Replica:
    """A daemon that listens for the webhook, in a directory of its own."""

    def __init__(self, cluster, account, name, port, mode="active", life="2160h", settings=""):
        self.port = port
        self.daemon = Daemon(
            account, cluster.directory / name, mode,
            flags=["--listen-webhook", f"127.0.0.1:{port}", "--grace", "0"],
            settings=f"{SETTINGS}    life: {life}\n{settings}",
        )  # fmt: skip

    def certificate(self):
        return ssl.get_server_certificate(("127.0.0.1", self.port))


class WebhookTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ControlPlane()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.add_gpu_nodes(2, 4, "K80", prefix="k80")
        cls.account = cls.cluster.install_rbac()
        cls.cluster.kubectl("apply", "--validate=strict", "-f", WEBHOOK / "rbac.yaml")
        let_nobody_plan(cls.cluster)
        cls.cluster.add_namespace(TEAM, MANAGED)
        cls.cluster.add_namespace("others")
        (port,) = free_ports(1)
        cls.cluster.apply(webhook_manifests(port))
        cls.replica = Replica(cls.cluster, cls.account, "replica-0", port)
        cls.daemon = cls.replica.daemon
        cls.addClassCleanup(cls.daemon.kill)
        cls.daemon.start()
        cls.cluster.start_scheduler(gpu_scheduler_config(cls.cluster, cls.daemon.extender_url))
        wait_webhook(cls.cluster, TEAM)

    def setUp(self):
        if not self.daemon.process.alive():
            self.daemon.start()
            wait_webhook(self.cluster, TEAM)
        self.addCleanup(self.clean)

    def clean(self):
        self.cluster.delete_all("job", TEAM)
        self.cluster.delete_all("pod", TEAM)

    # ---- what a Job becomes --------------------------------------------------------------------

    def test_a_managed_job_is_queued(self):
        before = datetime.datetime.now(datetime.UTC)
        self.apply(gpu_job("train", annotations={"deadline-after": "6h"}))
        job = self.job("train")
        self.assertIs(job["spec"]["suspend"], True)
        notes = job["metadata"]["annotations"]
        self.assertEqual(notes["slackline.dev/suspended-by"], "slackline")
        deadline = datetime.datetime.fromisoformat(notes["slackline.dev/deadline"])
        promised = (deadline - before).total_seconds()
        self.assertAlmostEqual(promised, 6 * 3600, delta=10)
        template = job["spec"]["template"]
        self.assertEqual(template["metadata"]["labels"]["slackline.dev/managed"], "true")
        self.assertEqual(template["spec"]["schedulerName"], "default-scheduler", "its pods are given theirs")
        self.assertNotIn("schedulingGates", template["spec"])

    def test_disruptions_do_not_count_as_failures_unless_the_job_says_so(self):
        self.apply(gpu_job("train"))
        spec = self.job("train")["spec"]
        self.assertEqual(spec["podReplacementPolicy"], "Failed")
        (rule,) = spec["podFailurePolicy"]["rules"]
        self.assertEqual((rule["action"], rule["onPodConditions"][0]["type"]), ("Ignore", "DisruptionTarget"))
        self.apply(gpu_job("own", annotations={"pod-failure-policy": "off"}))
        self.assertNotIn("podFailurePolicy", self.job("own")["spec"])
        restarts = gpu_job("restarts")
        restarts["spec"]["template"]["spec"]["restartPolicy"] = "OnFailure"
        self.apply(restarts)
        self.assertNotIn("podFailurePolicy", self.job("restarts")["spec"])
        self.apply(gpu_job("train", annotations={"checkpoint-interval": "10m"}))
        self.assertIn("podFailurePolicy", self.job("train")["spec"])

    def test_the_class_gives_the_deadline(self):
        what = {"model": "resnet50", "batch-size": "64", "iterations": "90000"}
        self.apply(gpu_job("prior", annotations={**what, "qos-class": "prior"}))
        self.apply(gpu_job("normal", annotations=what))
        prior, normal = (self.seconds_promised(name) for name in ("prior", "normal"))
        self.assertGreater(prior, 60)
        self.assertAlmostEqual(normal, 2 * prior, delta=5)

    def test_applying_again_changes_nothing(self):
        job = gpu_job("again", annotations={"deadline-after": "6h", "placements": "auto"})
        self.apply(job)
        before = self.job("again")
        self.apply(job)
        after = self.job("again")
        self.assertEqual(after["spec"], before["spec"])
        self.assertEqual(after["metadata"]["annotations"], before["metadata"]["annotations"])

    def test_others_jobs_stay_as_they_are(self):
        self.apply(gpu_job("kueue", labels={"kueue.x-k8s.io/queue-name": "q"}))
        self.apply(gpu_job("waits", spec={"suspend": True}))
        self.apply(gpu_job("elsewhere", namespace="others"))
        no_gpus = gpu_job("no-gpus")
        no_gpus["spec"]["template"]["spec"]["containers"][0]["resources"] = {}
        self.apply(no_gpus)
        for name, namespace in (("kueue", TEAM), ("no-gpus", TEAM), ("elsewhere", "others")):
            job = self.job(name, namespace)
            self.assertFalse(job["spec"]["suspend"], name)
            labels = job["spec"]["template"]["metadata"].get("labels", {})
            self.assertNotIn("slackline.dev/managed", labels, name)
        self.assertNotIn("slackline.dev/suspended-by", self.job("waits")["metadata"].get("annotations", {}))
        self.cluster.delete_all("job", "others")
        self.cluster.delete_all("pod", "others")

    def test_the_pods_of_a_job_that_was_queued_are_gated(self):
        self.apply(gpu_job("opened", gpus=2, pods=2, annotations={"placements": "2x2,1x4"}))
        opened = f"/apis/batch/v1/namespaces/{TEAM}/jobs/opened"
        answer = self.cluster.request("PATCH", opened, {"spec": {"suspend": False}}, user=DAEMON_USER)
        self.assertEqual(answer[0], 200, answer)
        pods = self.cluster.wait(lambda: len(self.pods()) == 2 and self.pods(), 20, "two pods")
        for pod in pods:
            self.assertEqual(pod["spec"]["schedulingGates"], [{"name": "slackline.dev/queue"}])
            self.assertIsNone(node_of(pod))
            variables = {
                each["name"]: each["valueFrom"]["fieldRef"]["fieldPath"]
                for each in pod["spec"]["containers"][0]["env"]
                if ("SLACKLINE" in each["name"] or "PET" in each["name"]) and "valueFrom" in each
            }
            self.assertEqual(len(variables), 4)
            self.assertEqual(variables["PET_NNODES"], "metadata.annotations['slackline.dev/nodes']")
            notes = pod["metadata"]["annotations"]
            self.assertEqual(notes["slackline.dev/nodes"], "2")
            self.assertEqual(notes["slackline.dev/gpus-per-node"], "2")

    # ---- what is refused, and said -------------------------------------------------------------

    def test_each_refusal_names_field_and_remedy(self):
        cases = {
            "UnknownClass": ({"qos-class": "asap"}, "qos-class: .*asap.*: write urgent, prior or normal"),
            "DeadlinePast": ({"deadline": "2020-01-01T00:00:00Z"}, "2020-01-01T00:00:00Z is in the past"),
            "Unreadable": ({"placements": "4by4"}, "placements: .*4by4.*: list shapes as"),
            "ReservedKey": ({"plan": "{}"}, "slackline.dev/plan: only Slackline writes it"),
        }
        for reason, (annotations, words) in cases.items():
            with self.subTest(reason):
                said = self.refused(gpu_job("refused", annotations=annotations))
                self.assertRegex(said, words)
                self.assertIn(f"({reason})", said)
                self.assertIsNone(self.cluster.get("job", TEAM, "refused"))
        self.assertRegex(
            self.refused(gpu_job("refused", annotations={"deadline-after": "soon"})),
            "deadline-after: .*soon.*: write it with units",
        )
        said = self.refused(gpu_job("refused", template_annotations={"device-ids": "0"}))
        self.assertIn("slackline.dev/device-ids", said)
        self.assertGreater(self.daemon.total("slackline_webhook_requests_total", result="UnknownClass"), 0)

    def test_our_keys_cannot_be_changed_by_others(self):
        self.apply(gpu_job("ours", annotations={"deadline-after": "6h"}))
        for change in ("suspended-by=me", "plan={}", "suspended-by-", "deadline-basis=mine"):
            with self.subTest(change):
                said = self.refused_by("annotate", "job", "ours", "--overwrite", f"slackline.dev/{change}")
                self.assertIn("only Slackline writes it", said)
        self.kubectl("annotate", "job", "ours", "slackline.dev/checkpoint-interval=10m")

    def test_a_deadline_follows_its_delay(self):
        self.apply(gpu_job("later", annotations={"deadline-after": "6h"}))
        self.kubectl("annotate", "job", "later", "--overwrite", "slackline.dev/deadline-after=9h")
        self.assertAlmostEqual(self.seconds_promised("later"), 9 * 3600, delta=5)
        beside = ("annotate", "job", "later", "--overwrite", "slackline.dev/deadline=2040-01-01T00:00:00Z")
        code, said = self.cluster.try_kubectl("-n", TEAM, *beside)
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"Warning: slackline.dev/deadline: stays \S+, because slackline.dev/deadline-after")
        self.assertAlmostEqual(self.seconds_promised("later"), 9 * 3600, delta=5)
        self.kubectl("annotate", "job", "later", "slackline.dev/deadline-after-")
        left = self.job("later")["metadata"]["annotations"]
        self.assertNotIn("slackline.dev/deadline", left)
        self.assertNotIn("slackline.dev/deadline-basis", left)

    def test_a_written_deadline_is_its_owners_to_move(self):
        first, second = "2040-01-01T00:00:00Z", "2041-01-01T00:00:00Z"
        job = gpu_job("written", annotations={"deadline": first})
        self.apply(job)
        self.apply(gpu_job("written", annotations={"deadline": second}))
        self.assertEqual(self.job("written")["metadata"]["annotations"]["slackline.dev/deadline"], second)
        self.kubectl("annotate", "job", "written", "slackline.dev/deadline-after=9h")
        self.assertAlmostEqual(self.seconds_promised("written"), 9 * 3600, delta=5)
        self.apply(job)
        self.assertAlmostEqual(self.seconds_promised("written"), 9 * 3600, delta=5)
        self.kubectl("annotate", "job", "written", "slackline.dev/deadline-after-")
        self.apply(job)
        self.assertEqual(self.job("written")["metadata"]["annotations"]["slackline.dev/deadline"], first)
        self.kubectl("annotate", "job", "written", "slackline.dev/deadline-")
        self.assertNotIn("slackline.dev/deadline", self.job("written")["metadata"]["annotations"])

    def test_urgent_needs_a_right(self):
        jane = ["--as=jane"]
        verbs = "--verb=get,create,update,patch"
        self.kubectl("create", "role", "jobs", verbs, "--resource=jobs.batch")
        self.kubectl("create", "rolebinding", "jane-jobs", "--role=jobs", "--user=jane")
        urgent = gpu_job("urgent", annotations={"qos-class": "urgent"})
        code, said = self.cluster.try_create(urgent, *jane)
        self.assertNotEqual(code, 0)
        self.assertIn('needs the right to "use" qosclasses/urgent', said)
        self.assertIn("(UrgentNotAllowed)", said)
        self.assertEqual(self.cluster.try_create(gpu_job("modest"), *jane)[0], 0)
        said = self.refused_by("annotate", "job", "modest", "slackline.dev/qos-class=urgent", "--as=jane")
        self.assertIn("(UrgentNotAllowed)", said)
        self.kubectl("create", "rolebinding", "jane-urgent", "--clusterrole=slackline-urgent", "--user=jane")
        self.cluster.wait(lambda: self.cluster.try_create(urgent, *jane)[0] == 0, 10, "the right to be seen")
        self.assertIs(self.job("urgent")["spec"]["suspend"], True)

    def test_a_full_queue_takes_no_more(self):
        queue = {"slackline.dev/queue": "small"}
        # In one go, so that the daemon has to count what its watch has not shown yet.
        self.cluster.apply([gpu_job(f"waiting-{i}", labels=queue) for i in range(MAX_PENDING)])
        said = self.refused(gpu_job("one-too-many", labels=queue))
        self.assertIn(f"queue small: {MAX_PENDING} tasks wait", said)
        self.assertIn("(QueueFull)", said)
        self.apply(gpu_job("another-queue"))

    def test_kubectl_shows_the_warnings(self):
        odd = gpu_job("odd", annotations={"model": "foo", "batch-size": "many"})
        code, said = self.cluster.try_create(odd)
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r'Warning: slackline.dev/model: "foo" is unknown.*known: ')
        self.assertRegex(said, r'Warning: slackline.dev/batch-size: "many": write a whole number')
        what = {"model": "resnet50", "batch-size": "64", "iterations": "9000000", "gpu-types": "K80"}
        late = gpu_job("late", annotations={**what, "deadline-after": "1h"})
        code, said = self.cluster.try_create(late)
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"Warning: slackline.dev/deadline: \S+ cannot be met: .* earliest finish is \d{4}-")

    # ---- when things go wrong ------------------------------------------------------------------

    def test_without_the_daemon_jobs_are_created_as_they_are(self):
        self.daemon.kill()
        self.cluster.start_scheduler(stock_scheduler_config(self.cluster, "stock"), name="kube-scheduler-stock")
        job = gpu_job("stock", annotations={"qos-class": "nonsense"}, scheduler="stock")
        self.assertEqual(self.cluster.try_create(job)[0], 0)
        self.assertFalse(self.job("stock")["spec"]["suspend"])
        self.cluster.wait(lambda: any(node_of(pod) for pod in self.pods()), 20, "its pod to be bound")

    def test_advise_mode_only_warns(self):
        self.instead("adviser", mode="advise")
        probe = gpu_job("advised", annotations={"qos-class": "unheard-of"})
        said = self.cluster.wait(
            lambda: "Warning" in (said := self.cluster.try_create(probe, DRY_RUN)[1]) and said,
            30,
            "the first advice",
        )
        self.assertIn("in active mode this would be refused: slackline.dev/qos-class", said)
        self.apply(probe)
        self.assertFalse(self.job("advised")["spec"]["suspend"])

    def test_a_given_certificate_serves_too(self):
        pki = self.cluster.pki
        tls = (
            f"listeners:\n  webhook:\n    tls:\n      certFile: {pki.crt('extender')}\n"
            f"      keyFile: {pki.key('extender')}\n"
        )
        given = self.instead("given", authority=pki.crt("ca"), settings=tls)
        wait_webhook(self.cluster, TEAM)
        self.assertEqual(
            ssl.PEM_cert_to_DER_cert(given.certificate()),
            ssl.PEM_cert_to_DER_cert(pki.crt("extender").read_text()),
        )

    def test_two_replicas_serve_one_certificate(self):
        (port,) = free_ports(1)
        other = Replica(self.cluster, self.account, "replica-1", port)
        self.addCleanup(other.daemon.kill)
        other.daemon.start()
        self.assertEqual(other.certificate(), self.replica.certificate())

    def test_a_rotation_is_never_felt(self):
        """A pair that lives 60 s: every creation is refused by the webhook, before and after."""
        before = self.replica.certificate()
        ours = ("slackline-system", "slackline-webhook-tls")
        self.cluster.empty_secret(*ours)
        self.addCleanup(self.cluster.empty_secret, *ours)  # no other test meets a pair that ends
        short = self.instead("short-lived", life="60s")
        wait_webhook(self.cluster, TEAM)
        first = short.certificate()
        self.assertNotEqual(first, before)
        probe = gpu_job("probe", annotations={"qos-class": "unheard-of"})
        missed, asked = 0, 0
        while short.certificate() == first:
            missed += self.cluster.try_create(probe, DRY_RUN)[0] == 0
            asked += 1
        for _ in range(20):
            missed += self.cluster.try_create(probe, DRY_RUN)[0] == 0
        self.assertGreater(asked, 20)
        self.assertEqual(missed, 0, f"of {asked + 20} creations {missed} were not seen by us")

    def test_its_rights_suffice(self):
        self.apply(gpu_job("once", annotations={"qos-class": "urgent"}))
        refused = [
            f"{event['verb']} {event['requestURI']}"
            for event in self.cluster.audit()
            if event["user"]["username"] == DAEMON_USER
            and event.get("responseStatus", {}).get("code") == 403
            and not event["requestURI"].endswith(f"{NOBODY_PLANS.partition('/')[0]}/leases")
        ]
        self.assertEqual(refused, [])

    def test_the_manifests_are_accepted(self):
        flags = ("--dry-run=server", "--validate=strict")
        said = self.cluster.kubectl("apply", "-k", WEBHOOK, *flags)
        self.assertEqual(said.count("(server dry run)"), 9, said)

    # ---- words the tests are written in --------------------------------------------------------

    def kubectl(self, *arguments):
        return self.cluster.kubectl("-n", TEAM, *arguments)

    def apply(self, job):
        return self.cluster.apply([job])

    def refused(self, job):
        code, said = self.cluster.try_create(job)
        self.assertNotEqual(code, 0, f"it was created: {said}")
        return said

    def refused_by(self, *arguments):
        code, said = self.cluster.try_kubectl("-n", TEAM, *arguments)
        self.assertNotEqual(code, 0, f"it was allowed: {said}")
        return said

    def instead(self, name, authority=None, **how):
        """Another daemon that is called in place of the usual one until the test ends."""
        self.daemon.kill()
        (port,) = free_ports(1)
        other = Replica(self.cluster, self.account, name, port, **how)
        self.cluster.apply(webhook_manifests(port, authority))
        self.addCleanup(self.cluster.apply, webhook_manifests(self.replica.port))
        self.addCleanup(other.daemon.kill)
        other.daemon.start()
        return other

    def job(self, name, namespace=TEAM):
        return self.cluster.get("job", namespace, name)

    def pods(self):
        return self.cluster.list("pod", TEAM)

    def seconds_promised(self, name):
        metadata = self.job(name)["metadata"]
        at = datetime.datetime.fromisoformat
        deadline = at(metadata["annotations"]["slackline.dev/deadline"])
        return (deadline - at(metadata["creationTimestamp"])).total_seconds()


class TogetherTest(unittest.TestCase):
    """The webhook and the planner: a plain Job travels from kubectl apply to its nodes."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = ControlPlane()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.add_gpu_nodes(2, 4, "K80", prefix="k80")
        cls.daemon = start_active(cls.cluster, TEAM)

    def test_a_job_as_people_write_it_runs_where_it_was_planned(self):
        self.cluster.apply([gpu_job("plain", gpus=2)])
        (pod,) = self.cluster.wait_bound("plain", namespace=TEAM)
        notes = self.cluster.get("job", TEAM, "plain")["metadata"]["annotations"]
        plan = json.loads(notes["slackline.dev/plan"])
        self.assertEqual(plan["nodes"], [node_of(pod)])
        self.assertNotIn("slackline.dev/suspended-by", notes)

    def test_a_job_that_leaves_its_shape_open_runs_in_the_planned_one(self):
        what = {"model": "resnet50", "batch-size": "64", "iterations": "900", "placements": "2x2"}
        self.cluster.apply([gpu_job("shaped", gpus=1, annotations=what)])
        pods = self.cluster.wait_bound("shaped", 2, namespace=TEAM)
        self.assertEqual(len({node_of(pod) for pod in pods}), 2)
        for pod in pods:
            limits = pod["spec"]["containers"][0]["resources"]["limits"]
            self.assertEqual(limits["nvidia.com/gpu"], "2")
            self.assertEqual(pod["metadata"]["annotations"]["slackline.dev/nodes"], "2")
            self.assertEqual(pod["metadata"]["annotations"]["slackline.dev/gpus-per-node"], "2")
        job = self.cluster.get("job", TEAM, "shaped")
        original = json.loads(job["metadata"]["annotations"]["slackline.dev/original"])
        self.assertEqual(original["parallelism"], 1)
        in_template = job["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"]
        if TEMPLATES_ARE_OPEN:
            self.assertEqual((original["gpus"], in_template), (1, "2"))
        else:
            self.assertEqual(in_template, "1", "the webhook gave the pods their GPUs")

    def test_tolerations_that_admission_adds_are_planned_with(self):
        self.cluster.add_gpu_nodes(1, 4, "P100", prefix="p100")
        taint = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
        self.cluster.kubectl("patch", "node", "p100-0", "-p", json.dumps({"spec": {"taints": [taint]}}))
        self.cluster.apply([gpu_job("shows", annotations={"gpu-types": "K80"})])
        (shows,) = self.cluster.wait_bound("shows", namespace=TEAM)
        self.assertIn("nvidia.com/gpu", [each["key"] for each in shows["spec"]["tolerations"]])
        self.cluster.apply([gpu_job("closed", annotations={"gpu-types": "P100"})])
        pods = self.cluster.wait_bound("closed", namespace=TEAM)
        self.assertEqual([node_of(pod) for pod in pods], ["p100-0"])

    def test_a_job_that_no_webhook_has_seen_is_told(self):
        asked = json.loads(self.cluster.kubectl("get", "mutatingwebhookconfiguration", "slackline", "-o", "json"))
        for key in ("resourceVersion", "uid", "creationTimestamp"):
            del asked["metadata"][key]
        self.cluster.kubectl("delete", "mutatingwebhookconfiguration", "slackline")
        self.addCleanup(self.cluster.apply, [asked])

        def created_past():
            self.cluster.kubectl("-n", TEAM, "delete", "job", "past", "--ignore-not-found")
            self.cluster.apply([gpu_job("past")])
            labels = self.cluster.get("job", TEAM, "past")["spec"]["template"]["metadata"].get("labels", {})
            # The first seconds after the daemon began to lead do not count.
            return "slackline.dev/managed" not in labels and self.daemon.total("slackline_unreviewed_jobs") == 1

        self.cluster.wait(created_past, 60, "a Job that went past the webhook to be counted")

        def told():
            events = self.cluster.list("event", TEAM)
            return [event for event in events if event["reason"] == "NotReviewed" and event["type"] == "Warning"]

        self.cluster.wait(told, 10, "the Event")
        self.assertEqual({event["involvedObject"]["name"] for event in told()}, {"past"})
        said = slackline("check", "--cluster", "kube", "--kubeconfig", self.cluster.pki_kubeconfig("admin"))
        self.assertIn("1 Jobs do not wait their turn, because the webhook has not seen them: ", said)
        self.assertIn(f"{TEAM}/past", said)
        self.cluster.kubectl("-n", TEAM, "delete", "job", "past")
        self.cluster.wait(lambda: self.daemon.total("slackline_unreviewed_jobs") == 0, 10, "nothing to be left to tell")


if __name__ == "__main__":
    unittest.main()
