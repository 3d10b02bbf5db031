"""`helm uninstall` of the form pod, with what its hook runs: nothing of Slackline is left, and every Job runs as stock. Its
rights are enough in any namespace, and are for nothing of others."""

import pathlib
import re
import subprocess
import tempfile
import threading
import unittest

from test_chart import GIVEN, RENDERINGS, chapter
from test_gangs import create, define, reference_to

from support.controlplane import ControlPlane, stock_scheduler_config
from support.daemon import slackline, slackline_binary
from support.helm import rendered
from support.installation import SYSTEM, install_in_pods
from support.objects import TEAM, gpu_job, gpu_pod, name_of, node_of

# While nobody answers for it, no namespace can be deleted.
API_SERVICE = """
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.visibility.slackline.dev}
spec:
  group: visibility.slackline.dev
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 15
  service: {name: slackline-webhook, namespace: slackline-system, port: 10251}
"""


class UninstallTest(unittest.TestCase):
    """Two nodes of four GPUs. One Job runs, others wait: for room, behind gates, for a scheduler that has gone."""

    def setUp(self):
        self.cluster = cluster = ControlPlane()
        self.addCleanup(cluster.close)
        self.installed = install_in_pods(cluster)
        cluster.start_scheduler(stock_scheduler_config(cluster, "default-scheduler"))
        define(cluster, "PyTorchJob")

    # ---- words the test is written in ----------------------------------------------------------

    def job(self, name):
        return self.cluster.get("job", TEAM, name)

    def by_hand(self):
        return slackline(
            "release",
            "--final",
            "--with-scheduler",
            "gpu-scheduler",
            "--kubeconfig",
            self.cluster.pki_kubeconfig("admin"),
        )

    def webhooks(self):
        found = self.cluster.kubectl(
            "get", "mutatingwebhookconfigurations,validatingwebhookconfigurations", "-o", "name"
        )
        return found.split()

    def torch_pod(self, name):
        owner = reference_to(create(self.cluster, "PyTorchJob", "torch"))
        pod = gpu_pod(name, 4, namespace=TEAM, scheduler="default-scheduler")
        pod["metadata"].update(ownerReferences=[owner], labels={"training.kubeflow.org/job-name": "torch"})
        return pod

    def fill(self):
        """What waits, each in its own way."""
        cluster = self.cluster
        cluster.apply([gpu_job("runs", gpus=4)])
        cluster.wait_bound("runs", namespace=TEAM)
        cluster.kill("gpu-scheduler")  # the containers end one after the other
        cluster.apply([gpu_job("handed", gpus=2)])
        self.waiting_pods("handed", 1)
        cluster.apply([gpu_job("room", gpus=4, pods=2), self.torch_pod("torch-worker-0")])
        cluster.apply([gpu_pod("bare", 4, namespace=TEAM, scheduler="default-scheduler")])
        self.assertIs(self.job("room")["spec"]["suspend"], True)

    def waiting_pods(self, job, count):
        """Until its pods are there, for the scheduler that only pods are told of, and without a gate."""

        def handed():
            pods = self.cluster.pods_of(job, TEAM)
            free = [pod for pod in pods if not pod["spec"].get("schedulingGates")]
            return free if len(free) == count else None

        for pod in self.cluster.wait(handed, 30, f"the pods of {job} to be handed over"):
            self.assertEqual(pod["spec"]["schedulerName"], "gpu-scheduler")
        self.assertEqual(self.job(job)["spec"]["template"]["spec"]["schedulerName"], "default-scheduler")

    def end_pods_once_scaled(self, ended):
        """What a kubelet does when the StatefulSet has no replicas any more."""
        while not ended.wait(0.2):
            found = self.cluster.get("statefulset", SYSTEM, "slackline")
            if found is None or found["spec"]["replicas"] == 0:
                self.installed.daemon.stop()
                return

    def submit_meanwhile(self, ended):
        count = 0
        while not ended.wait(0.4):
            self.cluster.apply([gpu_job(f"meanwhile-{count}", gpus=4)])
            count += 1

    # ---- the test ------------------------------------------------------------------------------

    def test_nothing_is_left_and_every_job_runs_as_stock(self):
        cluster = self.cluster
        self.fill()
        cluster.apply([gpu_job("names-it", gpus=1, scheduler="gpu-scheduler")])
        before = self.webhooks()
        (failed, said), (code, refused) = self.installed.helm_uninstall()
        self.assertNotEqual(failed, 0, said)
        self.assertEqual(code, 1, refused)
        self.assertIn("1 unfinished Jobs name gpu-scheduler in their template", refused)
        self.assertIn(f"  {TEAM}/names-it\n", refused)
        self.assertIn("Nothing was changed", refused)
        self.assertEqual(self.webhooks(), before)
        self.assertIs(self.job("room")["spec"]["suspend"], True)
        cluster.kubectl("-n", TEAM, "delete", "job", "names-it")

        ended = threading.Event()
        beside = [
            threading.Thread(target=each, args=(ended,)) for each in (self.end_pods_once_scaled, self.submit_meanwhile)
        ]
        for each in beside:
            each.start()
        (status, said), (code, words) = self.installed.helm_uninstall()
        ended.set()
        for each in beside:
            each.join()
        self.assertEqual((status, code), (0, 0), said + words)
        self.assertIn(f"still waits for gpu-scheduler: pod {TEAM}/bare (nobody makes it anew: create it again)", words)
        self.assertNotIn("meanwhile-", words)
        self.nothing_is_left()
        self.rights_were_enough()
        self.every_job_is_stocks()
        cluster.kubectl("create", "-f", "-", input=API_SERVICE)  # of another installation, say
        self.assertIn("released 0 Jobs and 0 pods", self.by_hand(), "it can be done again")
        self.nothing_is_left()
        self.a_pod_on_a_dead_node_is_not_waited_for()

    def a_pod_on_a_dead_node_is_not_waited_for(self):
        cluster = self.cluster
        pod = gpu_pod("slackline-9", 0, namespace=SYSTEM, scheduler="nobody")
        pod["metadata"].update(
            finalizers=["example.com/no-kubelet"],
            labels={"app.kubernetes.io/name": "slackline", "app.kubernetes.io/component": "daemon"},
        )
        cluster.apply([pod])
        cluster.kubectl("-n", SYSTEM, "delete", "pod", "slackline-9", "--wait=false")
        said = self.by_hand()
        self.assertIn("1 pod is still ending, on nodes that do not answer; they plan nothing any more\n", said)
        holder = cluster.kubectl("-n", SYSTEM, "get", "lease", "slackline", "-o", "jsonpath={.spec.holderIdentity}")
        self.assertEqual(holder, "slackline-release", "nor when the node comes back")
        self.assertIn(f"kubectl -n {SYSTEM} delete lease slackline\n", said)

    def nothing_is_left(self):
        kinds = (
            "all,secrets,configmaps,networkpolicies,resourcequotas,poddisruptionbudgets,roles,rolebindings,clusterroles,"
            "clusterrolebindings,priorityclasses,serviceaccounts,mutatingwebhookconfigurations,leases,"
            "validatingwebhookconfigurations,validatingadmissionpolicies,validatingadmissionpolicybindings,apiservices"
        )
        found = self.cluster.kubectl(
            "get", kinds, "-A", "-o", "custom-columns=K:.kind,NAME:.metadata.name", "--no-headers"
        )
        ours = [line for line in found.splitlines() if "slackline" in line or "gpu-scheduler" in line]
        self.assertEqual([line for line in ours if not line.startswith("Namespace")], [])

    def rights_were_enough(self):
        user = f"system:serviceaccount:{SYSTEM}:slackline-release"
        refused = [
            (each["verb"], each["requestURI"])
            for each in self.cluster.audit()
            if each["user"]["username"] == user and each.get("responseStatus", {}).get("code") == 403
        ]
        self.assertEqual(refused, [])

    def every_job_is_stocks(self):
        cluster = self.cluster
        self.assertEqual(len(cluster.pods_of("runs", TEAM)), 1)
        self.assertTrue(node_of(cluster.pods_of("runs", TEAM)[0]), "it was left alone")
        self.assertIsNone(cluster.get("pod", TEAM, "torch-worker-0"), "its controller makes it anew")
        jobs = [job for job in cluster.list("job", TEAM)]
        self.assertGreater(len(jobs), 4)
        self.assertEqual([name_of(job) for job in jobs if job["spec"].get("suspend")], [])

        def anew():
            pods = [pod for pod in cluster.list("pod", TEAM) if name_of(pod) != "bare" and not node_of(pod)]
            return all(
                pod["spec"]["schedulerName"] == "default-scheduler" and not pod["spec"].get("schedulingGates")
                for pod in pods
            )

        cluster.wait(anew, 20, "only the stock scheduler to be waited for")
        others = [name_of(job) for job in jobs if name_of(job) != "handed"]
        cluster.kubectl("-n", TEAM, "delete", "job", *others)
        cluster.wait_bound("handed", namespace=TEAM)


class RightsTest(unittest.TestCase):
    """What the hook may do, and whose Secrets it leaves alone."""

    def test_an_uninstallation_deletes_no_secret_of_others(self):
        for name, values in RENDERINGS.items():
            with self.subTest(name):
                text = rendered(values)
                others = "given" in name or "cert-manager" in name
                hook, role = chapter(text, "Job", "slackline-remove"), chapter(text, "Role", "slackline-remove")
                self.assertEqual("--config=/etc/slackline/slackline.yaml" in hook, others or name == "full")
                (secrets,) = re.findall(r"resources: \[secrets\].*\n    resourceNames: \[(.*)\]\n", role)
                ours = ["slackline-plan-key"]
                if not others:
                    ours += ["slackline-webhook-tls", "slackline-api-tls"]
                if not others or "beside" not in name:
                    ours += ["slackline-extender-tls"]  # of a version that had an extender beside
                self.assertEqual(secrets.split(", "), ours)
                self.assertIn(
                    "resources: [apiservices]", chapter(text, "ClusterRole", "slackline-remove"), "it may be left"
                )

    def test_an_uninstallation_has_its_rights_in_any_namespace(self):
        """What the hook runs, on its configuration and with its account."""
        cluster = ControlPlane()
        self.addCleanup(cluster.close)
        cluster.add_namespace("gpus")
        cluster.kubectl("-n", "gpus", "create", "secret", "generic", "slackline-api-tls", "--from-literal=tls.crt=mine")
        for name, values in {"given": GIVEN.replace("own-api", "slackline-api-tls"), "default": ""}.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                cluster.apply(rendered(values, "gpus"))
                path = pathlib.Path(folder, "slackline.yaml")
                path.write_text(cluster.get("configmap", "gpus", "slackline")["data"]["slackline.yaml"])
                account = cluster.service_account_kubeconfig("gpus", "slackline-release")
                done = subprocess.run(
                    [slackline_binary(), "release", "--final", "--with-scheduler=gpu-scheduler", "--config", path,
                     "--kubeconfig", account],
                    capture_output=True, text=True, check=False,
                )  # fmt: skip
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                found = cluster.kubectl("-n", "gpus", "get", "secrets", "-o", "name").split()
                self.assertEqual("secret/slackline-api-tls" in found, name == "given", "it is the user's")
                self.assertNotIn("secret/slackline-plan-key", found)


if __name__ == "__main__":
    unittest.main()
