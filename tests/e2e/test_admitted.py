"""Rights on both objects of an update, and what counts of an object that no webhook saw."""

import copy
import http.client
import json
import ssl
import unittest

from support.active import NOBODY_PLANS, let_nobody_plan
from support.controlplane import ControlPlane
from support.daemon import Daemon
from support.installation import WEBHOOK, wait_webhook, webhook_manifests
from support.objects import MANAGED, TEAM, gpu_job, gpu_pod
from support.process import free_ports

URGENT = {"slackline.dev/qos-class": "urgent"}


class AdmittedTest(unittest.TestCase):
    """A daemon whose webhook demands a client certificate, and an API server that shows one."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = ControlPlane(shows_certificate=True)
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.add_gpu_nodes(1, 4, "K80")
        account = cls.cluster.install_rbac()
        cls.cluster.kubectl("apply", "--validate=strict", "-f", WEBHOOK / "rbac.yaml")
        let_nobody_plan(cls.cluster)
        cls.cluster.add_namespace(TEAM, MANAGED)
        (cls.port,) = free_ports(1)
        cls.cluster.apply(webhook_manifests(cls.port))
        cls.daemon = Daemon(
            account, cls.cluster.directory / "slackline", "active",
            flags=["--listen-webhook", f"127.0.0.1:{cls.port}", "--grace", "0"],
            settings=f"queues: [{{name: small, maxPending: 1}}]\n"
            f"planner: {{lease: {NOBODY_PLANS}}}\n"
            "webhook: {certificate: {names: [127.0.0.1]}}\n"
            f"listeners: {{webhook: {{tls: {{clientCAFile: {cls.cluster.pki.crt('ca')}}}}}}}\n",
        )  # fmt: skip
        cls.addClassCleanup(cls.daemon.kill)
        cls.daemon.start()
        wait_webhook(cls.cluster, TEAM)
        cls.cluster.kubectl("-n", TEAM, "create", "role", "work", "--verb=*",
                            "--resource=jobs.batch,pods")  # fmt: skip
        cls.cluster.kubectl("-n", TEAM, "create", "rolebinding", "jane", "--role=work", "--user=jane")

    def setUp(self):
        self.addCleanup(self.clean)

    def clean(self):
        if not self.daemon.process.alive():
            self.daemon.start()
        wait_webhook(self.cluster, TEAM)
        self.cluster.delete_all("job", TEAM)
        self.cluster.delete_all("pod", TEAM)

    # ---- both objects --------------------------------------------------------------------------

    def test_nobody_becomes_urgent_by_leaving_our_care_in_the_same_update(self):
        job = self.make(gpu_job("sly"))
        change = copy.deepcopy(job)
        change["metadata"]["annotations"].update(URGENT)
        del change["spec"]["template"]["metadata"]["labels"]["slackline.dev/managed"]
        status, said = self.put(change, "jane")
        self.assertEqual(status, 403, said)
        self.assertIn("(UrgentNotAllowed)", said["message"])
        # Leaving alone: the label is put back.
        del change["metadata"]["annotations"]["slackline.dev/qos-class"]
        self.assertEqual(self.put(change, "jane")[0], 200)
        labels = self.cluster.get("job", TEAM, "sly")["spec"]["template"]["metadata"]["labels"]
        self.assertEqual(labels["slackline.dev/managed"], "true")

    def test_a_gated_pod_cannot_leave_nor_become_urgent(self):
        pod = self.make(gpu_pod("sly", namespace=TEAM, scheduler="default-scheduler"))
        change = copy.deepcopy(pod)
        change["metadata"]["annotations"].update(URGENT)
        del change["metadata"]["labels"]["slackline.dev/managed"]
        status, said = self.put(change, "jane")
        self.assertEqual(status, 403, said)
        self.assertIn("(UrgentNotAllowed)", said["message"])
        del change["metadata"]["annotations"]["slackline.dev/qos-class"]
        change["spec"]["schedulingGates"] = []
        self.assertEqual(self.put(change, "jane")[0], 200)
        kept = self.cluster.get("pod", TEAM, "sly")
        self.assertEqual(kept["spec"]["schedulingGates"], [{"name": "slackline.dev/queue"}])
        self.assertEqual(kept["metadata"]["labels"]["slackline.dev/managed"], "true")

    def test_a_full_queue_cannot_be_entered_by_relabelling(self):
        first = gpu_pod("first", namespace=TEAM, scheduler="default-scheduler")
        self.make(first, labels={"slackline.dev/queue": "small"})
        self.make(gpu_job("mover"))
        said = self.cluster.wait(self.moved_in_vain, 10, "the bare pod to be counted")
        self.assertIn("queue small: 1 tasks wait there and its maxPending is 1", said)

    def moved_in_vain(self):
        code, said = self.cluster.try_kubectl(
            "-n", TEAM, "label", "job", "mover", "slackline.dev/queue=small", "--as=jane"
        )
        return said if code else None

    # ---- the proof -----------------------------------------------------------------------------

    def test_what_was_allowed_is_signed_and_follows_a_change(self):
        job = self.make(gpu_job("signed", annotations={"qos-class": "prior"}))
        proof = self.proof(job)
        self.assertEqual((proof["class"], proof["queue"]), ("prior", TEAM))
        self.cluster.kubectl("-n", TEAM, "annotate", "job", "signed", "--as=jane", "--overwrite",
                             "slackline.dev/qos-class=normal")  # fmt: skip
        changed = self.proof(self.cluster.get("job", TEAM, "signed"))
        self.assertEqual((changed["class"], changed["submitter"]), ("normal", "jane"))
        self.assertNotEqual(changed["nonce"], proof["nonce"])

    def test_what_no_webhook_saw_has_no_class_and_no_queue(self):
        honest = self.make(gpu_job("honest", annotations={"qos-class": "prior"}))
        self.daemon.kill()
        forged = {"suspended-by": "slackline", "qos-class": "urgent"}
        label = {"slackline.dev/queue": "small"}
        self.make(gpu_job("forged", annotations=forged, labels=label, spec={"suspend": True}))
        copied = {**forged, "admitted": honest["metadata"]["annotations"]["slackline.dev/admitted"],
                  "qos-class": "prior"}  # fmt: skip
        self.make(gpu_job("zz-copied", annotations=copied, spec={"suspend": True}))
        self.daemon.start()
        rows = self.cluster.wait(lambda: self.rows({"honest", "forged", "zz-copied"}), 20, "rows")
        self.assertEqual(rows["honest"]["qosClass"], "prior")
        self.assertEqual(rows["forged"]["qosClass"], "normal")
        self.assertEqual(rows["forged"]["queue"], TEAM)
        self.assertEqual(rows["zz-copied"]["qosClass"], "normal")

    # ---- the caller ----------------------------------------------------------------------------

    def test_without_a_certificate_nobody_is_answered(self):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        link = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=5, context=context)
        self.addCleanup(link.close)
        with self.assertRaises((ssl.SSLError, ConnectionError, http.client.RemoteDisconnected)):
            link.request("POST", "/v1/webhook/validate", "{}", {"Content-Type": "application/json"})
            link.getresponse()

    # ---- words the tests are written in --------------------------------------------------------

    def make(self, what, labels=None):
        what["metadata"].setdefault("labels", {}).update(labels or {})
        path = self.cluster.collection(what["kind"].lower(), TEAM)
        status, made = self.cluster.request("POST", path, what)
        self.assertEqual(status, 201, made)
        return {**made, "kind": what["kind"]}

    def put(self, what, user):
        """Replaces the object, as it is now but for what the test changed."""
        path = self.cluster.collection(what["kind"].lower(), TEAM) + "/" + what["metadata"]["name"]
        what["metadata"].pop("resourceVersion", None)
        return self.cluster.request("PUT", path, what, user=user)

    @staticmethod
    def proof(what):
        return json.loads(what["metadata"]["annotations"]["slackline.dev/admitted"])

    def rows(self, names):
        """{name: row} of the queue, once all of them are there."""
        rows = {row["name"]: row for row in json.loads(self.daemon.get("/v1/queue")[1])["items"]}
        return rows if names <= set(rows) else None


if __name__ == "__main__":
    unittest.main()
