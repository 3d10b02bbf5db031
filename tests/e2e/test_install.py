"""What `kubectl apply -k` installs, on a real API server: it is admitted, it works as it is, and it goes.

No pod of ours runs here (KWOK plays the kubelets), so daemon and kube-scheduler run beside the cluster: on
the configurations and with the ServiceAccounts that were installed. Only addresses and paths differ.
"""

import json
import re
import unittest

from support.controlplane import DAEMON_USER, ROOT, ControlPlane
from support.daemon import Daemon, slackline, slackline_binary
from support.objects import gpu_pod, name_of, node_of
from support.process import Process, free_ports
from test_webhook import TEAM, gpu_job, webhook_manifests

BASE = ROOT / "deploy/base"
BESIDE = ROOT / "deploy/kube-scheduler/beside"
REMOVE = ROOT / "deploy/remove"
SYSTEM = "slackline-system"
SCHEDULER = "system:serviceaccount:kube-system:gpu-scheduler"
# Granted, and not needed here: after an unanswered binding, and when a certificate is renewed. Other
# tests see both.
SELDOM = {"get pods", "update secrets"}


class InstalledDaemon(Daemon):
    """`slackline serve` on the configuration of the installed ConfigMap."""

    def __init__(self, cluster):
        super().__init__(None, cluster.directory)
        self.kubeconfig = cluster.service_account_kubeconfig(SYSTEM, "slackline")
        (self.webhook_port,) = free_ports(1)
        self.config = cluster.directory / "slackline.yaml"
        self.say(cluster.get("configmap", SYSTEM, "slackline")["data"]["slackline.yaml"])
        self.process = Process(
            "slackline",
            [slackline_binary(), "serve", "--config", self.config, "--kubeconfig", self.kubeconfig,
             "--listen-api", f"127.0.0.1:{self.api_port}", "--grace", "0"],
            cluster.directory / "slackline.log",
        )  # fmt: skip

    def say(self, text):
        """Writes the configuration, with the addresses and paths of this machine."""
        for ours, here in {
            '":8181"': f"0.0.0.0:{self.extender_port}",
            '":8443"': f"127.0.0.1:{self.webhook_port}",
            '":8182"': f"127.0.0.1:{self.metrics_port}",
            "/var/lib/slackline": str(self.config.parent),
        }.items():
            assert text.count(ours) == 1, f"the ConfigMap says {ours} {text.count(ours)} times"
            text = text.replace(ours, here)
        # The API server calls the webhook here by its address, not through a Service; and what is done
        # every ten minutes happens while a test looks.
        self.config.write_text(
            text + "webhook: {certificate: {names: [127.0.0.1]}}\ncluster: {auditInterval: 2s}\n"
        )


def documents(kustomization, cluster):
    """What `kubectl kustomize` makes of a folder, as objects."""
    text = cluster.kubectl("create", "--dry-run=client", "--validate=false", "-o", "json",
                           "-k", kustomization)  # fmt: skip
    decoder, objects = json.JSONDecoder(), []
    while text := text.lstrip():
        found, end = decoder.raw_decode(text)
        objects += found.get("items", [found])
        text = text[end:]
    return objects


class Installation:
    """A cluster with everything installed, the daemon and the GPU scheduler on what was installed."""

    def __init__(self):
        self.cluster = ControlPlane()
        self.cluster.add_gpu_nodes(2, 4, "K80", prefix="k80")
        for folder in (BASE, BESIDE):
            self.cluster.kubectl("apply", "--validate=strict", "-k", folder)
        self.cluster.kubectl("create", "namespace", TEAM)
        self.cluster.kubectl("label", "namespace", TEAM, "slackline.dev/managed=true")
        self.daemon = InstalledDaemon(self.cluster)
        self.cluster.adopt(self.daemon.process)
        self.cluster.apply(webhook_manifests(self.daemon.webhook_port))
        self.daemon.start()
        self.start_scheduler()
        self.cluster.wait(lambda: self.daemon.total("slackline_leader") == 1, 30, "it to lead")
        self.cluster.wait(self.webhook_is_called, 30, "the webhook's word")

    def webhook_is_called(self):
        probe = gpu_job("probe", annotations={"qos-class": "unheard-of"})
        path = f"/apis/batch/v1/namespaces/{TEAM}/jobs?dryRun=All"
        return self.cluster.request("POST", path, probe)[0] != 201

    def start_scheduler(self):
        account = self.cluster.service_account_kubeconfig("kube-system", "gpu-scheduler")
        trusted = self.cluster.directory / "ca.crt"
        trusted.write_text(self.cluster.wait(self.trust, 20, "whom kube-scheduler trusts"))
        (installed,) = [
            each["data"]["configuration.yaml"]
            for each in self.cluster.list("configmap", "kube-system")
            if name_of(each).startswith("gpu-scheduler-configuration-")
        ]
        (self.cluster.directory / "installed.yaml").write_text(installed)
        url = f"https://127.0.0.1:{self.daemon.extender_port}/v1/extender"
        for ours, here in {
            "clientConnection:.*": f"clientConnection:\n  kubeconfig: {account}",
            "urlPrefix: .*": f"urlPrefix: {url}",
            "caFile: .*": f"caFile: {trusted}",
        }.items():
            installed, found = re.subn(ours, here, installed)
            assert found == 1, f"{ours} is there {found} times"
        self.cluster.start_scheduler(installed, "gpu-scheduler", account)

    def trust(self):
        said = self.cluster.get("configmap", "kube-system", "slackline-extender-ca")
        return said.get("data", {}).get("ca.crt")

    def pods_of(self, job):
        return self.cluster.list("pod", TEAM, f"batch.kubernetes.io/job-name={job}")

    def wait_bound(self, job, count=1):
        def bound():
            pods = self.pods_of(job)
            return pods if len(pods) == count and all(map(node_of, pods)) else None

        return self.cluster.wait(bound, 30, f"{count} pods of {job} to be bound")


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.installed = Installation()
        cls.cluster = cls.installed.cluster
        cls.addClassCleanup(cls.cluster.close)

    def test_every_manifest_is_accepted(self):
        for folder in ("base", "kube-scheduler/beside", "remove", "rbac", "webhook"):
            with self.subTest(folder):
                said = self.cluster.kubectl(
                    "apply", "--dry-run=server", "--validate=strict", "-k", ROOT / "deploy" / folder
                )
                self.assertIn("(server dry run)", said)

    def test_both_scheduler_configurations_are_one(self):
        def meant(path):
            lines = (re.sub(r"\s*#.*", "", line) for line in path.read_text().splitlines())
            return [line for line in lines if line and "kubeconfig:" not in line]

        outside, inside = ROOT / "deploy/kube-scheduler/gpu-scheduler.yaml", BESIDE / "configuration.yaml"
        self.assertEqual(meant(outside), meant(inside))
        for path in (outside, inside):
            said = slackline("check", "--config", BASE / "slackline.yaml", "--scheduler", path)
            self.assertEqual(said.count("no findings"), 2, said)

    def test_a_job_is_bound_through_what_was_installed(self):
        before = self.installed.daemon.requests("filter", result="ok")
        self.cluster.apply([gpu_job("train", gpus=2, annotations={"deadline-after": "6h"})])
        (pod,) = self.installed.wait_bound("train")
        job = self.cluster.get("job", TEAM, "train")
        plan = json.loads(job["metadata"]["annotations"]["slackline.dev/plan"])
        self.assertEqual(plan["nodes"], [node_of(pod)])
        self.assertGreater(self.installed.daemon.requests("filter", result="ok"), before)
        self.assertEqual(self.cluster.binders()[name_of(pod)], DAEMON_USER)
        lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/gpu-scheduler"
        self.assertEqual(self.cluster.request("GET", lease)[0], 200, "it has a Lease of its own")
        log = self.cluster.parts["gpu-scheduler"].log.read_text()
        self.assertNotIn("forbidden", log)
        self.assertNotIn("x509", log)

    def test_the_rights_are_those_that_are_used(self):
        self.cluster.apply([gpu_job("again", annotations={"qos-class": "urgent"})])
        self.installed.wait_bound("again")
        seldom_done = {"create events", "list nodes", "list poddisruptionbudgets.policy"}
        self.cluster.wait(lambda: self.used() >= seldom_done, 20, "its Event and an audit")
        refused = [
            event["requestURI"]
            for event in self.daemon_audit()
            if event.get("responseStatus", {}).get("code") == 403
        ]
        self.assertEqual(refused, [])
        granted = self.granted()
        self.assertLess({"patch jobs.batch", "patch pods/status", "create pods/binding"}, granted)
        self.assertEqual(sorted(granted - self.used() - SELDOM), [], "granted and never used")

    def test_the_safety_net_does_nothing_while_somebody_plans(self):
        (cron,) = [each for each in documents(BASE, self.cluster) if each["kind"] == "CronJob"]
        pod = cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        said = slackline(*pod["containers"][0]["args"], "--kubeconfig", self.installed.daemon.kubeconfig)
        self.assertIn("somebody plans", said)

    def test_services_choose_the_daemons_only(self):
        objects = documents(BASE, self.cluster)
        (daemons,) = [each for each in objects if each["kind"] == "StatefulSet"]
        (cron,) = [each for each in objects if each["kind"] == "CronJob"]
        labels = daemons["spec"]["template"]["metadata"]["labels"]
        others = cron["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"]
        ports = {each["name"] for each in daemons["spec"]["template"]["spec"]["containers"][0]["ports"]}
        services = [each for each in objects if each["kind"] == "Service"]
        self.assertEqual(len(services), 3)
        for service in services:
            selector = service["spec"]["selector"].items()
            self.assertLessEqual(selector, labels.items(), name_of(service))
            self.assertFalse(selector <= others.items(), name_of(service))
            for port in service["spec"]["ports"]:
                self.assertIn(port["targetPort"], ports | {8443})

    # ---- words the tests are written in --------------------------------------------------------

    def daemon_audit(self):
        return [each for each in self.cluster.audit() if each["user"]["username"] == DAEMON_USER]

    def used(self):
        """ "verb resource" of every request of the daemon that was allowed."""
        return {
            right_of(event["verb"], event["objectRef"])
            for event in self.daemon_audit()
            if "objectRef" in event and event.get("responseStatus", {}).get("code") != 403
        }

    def granted(self):
        """ "verb resource" of every rule that is bound to the daemon's ServiceAccount."""
        objects = documents(BASE, self.cluster) + documents(BESIDE, self.cluster)
        roles = {
            (each["kind"], name_of(each)): each["rules"]
            for each in objects
            if each["kind"] in ("Role", "ClusterRole")
        }
        rules = [
            rule
            for each in objects
            if each["kind"].endswith("RoleBinding") and each["subjects"][0]["name"] == "slackline"
            for rule in roles[each["roleRef"]["kind"], each["roleRef"]["name"]]
        ]
        return {
            right_of(verb, {"apiGroup": group, "resource": resource})
            for rule in rules
            for group in rule["apiGroups"]
            for resource in rule["resources"]
            for verb in rule["verbs"]
        }


def right_of(verb, what):
    resource = what["resource"]
    if what.get("subresource"):
        resource += "/" + what["subresource"]
    return f"{verb} {resource}" + (f".{what['apiGroup']}" if what.get("apiGroup") else "")


class WayBackTest(unittest.TestCase):
    """Jobs wait; then active mode is turned off, or everything is removed."""

    def setUp(self):
        self.installed = Installation()
        cluster = self.installed.cluster
        self.addCleanup(cluster.close)
        cluster.apply([gpu_pod(f"wall-{i}", gpus=4) for i in range(2)])
        cluster.wait(
            lambda: all(map(node_of, cluster.list("pod", "default"))), 30, "the cluster to be full"
        )
        cluster.apply([gpu_job("waits", gpus=2), gpu_job("gang", gpus=2, pods=2)])
        self.assertEqual(self.suspended(), ["gang", "waits"])

    def suspended(self):
        jobs = self.installed.cluster.list("job", TEAM)
        return sorted(name_of(job) for job in jobs if job["spec"]["suspend"])

    def test_leaving_active_mode_releases_all_tasks(self):
        daemon, cluster = self.installed.daemon, self.installed.cluster
        (cluster.directory / "mode.yaml").write_text(
            cluster.kubectl("-n", SYSTEM, "get", "configmap", "slackline", "-o", "yaml")
            .replace("mode: active", "mode: advise")
        )
        cluster.kubectl("apply", "-f", cluster.directory / "mode.yaml")
        self.assertEqual(daemon.stop(), 0)
        daemon.say(cluster.get("configmap", SYSTEM, "slackline")["data"]["slackline.yaml"])
        daemon.start()
        self.assertEqual(self.suspended(), ["gang", "waits"], "another replica may still plan")
        cluster.wait(lambda: not self.suspended(), 45, "the Jobs to be given back")
        cluster.apply([gpu_job("after")])
        self.assertEqual(self.suspended(), [], "nothing is queued any more")
        cluster.delete_all("pod")  # room for what waited
        self.assertTrue(self.installed.wait_bound("waits") and self.installed.wait_bound("gang", 2))

    def test_removed_nothing_of_ours_is_in_the_way(self):
        installed, cluster = self.installed, self.installed.cluster
        self.assertEqual(installed.daemon.stop(), 0)  # what scaling to zero does
        (job,) = documents(REMOVE, cluster)
        (container,) = job["spec"]["template"]["spec"]["containers"]
        said = slackline(*container["args"], "--kubeconfig", installed.daemon.kubeconfig)
        self.assertIn("released 2 Jobs", said)
        cluster.kubectl("delete", "-k", BASE, "--wait=false")
        cluster.wait(lambda: not cluster.get("namespace", None, SYSTEM), 60, "the namespace to go")
        left = cluster.kubectl(
            "get", "clusterroles,clusterrolebindings,mutatingwebhookconfigurations,"
            "validatingwebhookconfigurations", "-l", "app.kubernetes.io/name=slackline", "-o", "name",
        )  # fmt: skip
        self.assertEqual(left, "")
        cluster.delete_all("pod")  # room for what waited
        self.assertTrue(installed.wait_bound("waits") and installed.wait_bound("gang", 2))
        cluster.delete_all("job", TEAM)
        cluster.delete_all("pod", TEAM)
        cluster.apply([gpu_job("stock", gpus=4, pods=2, scheduler="gpu-scheduler")])
        self.assertFalse(cluster.get("job", TEAM, "stock")["spec"]["suspend"])
        for pod in installed.wait_bound("stock", 2):
            self.assertFalse(pod["spec"].get("schedulingGates"))
            self.assertEqual(cluster.binders()[name_of(pod)], SCHEDULER)


if __name__ == "__main__":
    unittest.main()
