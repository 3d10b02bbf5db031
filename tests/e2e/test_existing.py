"""A static pod's kube-scheduler that calls the DaemonSet of deploy/kube-scheduler/existing on its host's loopback."""

import http.client
import json
import os
import re
import ssl
import subprocess
import unittest

from test_install import audit_of, rights_in, used_by

from support.controlplane import BINARIES, ROOT, SCHEDULER_USER, ControlPlane
from support.daemon import Daemon, slackline, slackline_binary
from support.installation import SYSTEM, Installation, PodVolumes, apply_chart, documents
from support.objects import MANAGED, TEAM, gpu_job, gpu_pod, name_of, node_of
from support.process import Process

EXISTING = ROOT / "deploy/kube-scheduler/existing"
NAMESPACE = "kube-system"
ACCOUNT = "slackline-extender"
USER = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
ON_HOSTS = "/etc/kubernetes/slackline"  # of the control-plane nodes
REFUSED = (ssl.SSLError, ConnectionError, http.client.RemoteDisconnected)


def make_certificates(cluster, folder):
    """Runs what docs/OPERATIONS.md says, in a folder."""
    (commands,) = re.findall(
        r"^ *```sh\n( *issue\(\) .*?)^ *```", (ROOT / "docs/OPERATIONS.md").read_text(), re.M | re.S
    )
    folder.mkdir()
    environment = {
        **os.environ,
        "PATH": f"{BINARIES}:{os.environ['PATH']}",
        "KUBECONFIG": str(cluster.pki_kubeconfig("admin")),
    }
    done = subprocess.run(
        ["sh", "-ec", commands], cwd=folder, env=environment, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


def replaced(text, changes):
    for ours, here in changes.items():
        assert ours in text, f"there is no {ours}"
        text = text.replace(ours, str(here))
    return text


class ExtenderPod(PodVolumes, Daemon):
    """A pod of the DaemonSet, run as it says, on the ports of here."""

    def __init__(self, cluster):
        super().__init__(None, cluster.directory / "extender")
        self.cluster, self.namespace, self.directory = cluster, NAMESPACE, cluster.directory / "extender"
        path = f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets/slackline-extender"
        status, self.daemonset = cluster.request("GET", path)
        assert status == 200
        self.spec = self.daemonset["spec"]["template"]["spec"]
        (serve, flag, config) = self.container("slackline")["args"]
        assert (serve, flag) == ("serve", "--config")
        root = self.mounted("slackline")
        text = replaced((root / config.lstrip("/")).read_text(), {
            "127.0.0.1:8181": f"127.0.0.1:{self.extender_port}",
            "127.0.0.1:8180": f"127.0.0.1:{self.api_port}",
            "127.0.0.1:8182": f"127.0.0.1:{self.metrics_port}",
            "/etc/slackline-tls": root / "etc/slackline-tls",
        })  # fmt: skip
        (root / "etc/slackline-tls/tls.key").chmod(0o440)
        self.config.write_text(text + "cluster: {auditInterval: 2s}\n")
        account = cluster.service_account_kubeconfig(self.namespace, self.spec["serviceAccountName"])
        self.process = Process(
            "slackline-extender",
            [slackline_binary(), serve, flag, self.config, "--kubeconfig", account, "--grace", "0"],
            self.directory / "slackline.log",
        )


class ExistingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cluster = ControlPlane()
        cls.addClassCleanup(cluster.close)
        cls.nodes = cluster.add_gpu_nodes(2, 4, "K80", prefix="k80")
        apply_chart(cluster, "none")
        cls.host = cluster.directory / "host"
        make_certificates(cluster, cls.host)
        cluster.kubectl("apply", "--validate=strict", "--warnings-as-errors", "-k", EXISTING)
        cluster.add_namespace(TEAM, MANAGED)
        cls.planning = Installation(cluster)
        cls.planning.start_daemon(cls.planning.point_webhooks_here)
        cls.planning.wait_active(TEAM)
        cls.extender = ExtenderPod(cluster)
        cluster.adopt(cls.extender.process)
        cls.extender.start()
        cls.scheduler_yaml = cluster.directory / "scheduler.yaml"
        cls.scheduler_yaml.write_text(
            replaced((EXISTING / "scheduler.yaml").read_text(), {
                "127.0.0.1:8181": f"127.0.0.1:{cls.extender.extender_port}",
                "/etc/kubernetes/scheduler.conf": cluster.pki_kubeconfig("scheduler"),
                f" {ON_HOSTS}/": f" {cls.host}/",
            })
        )  # fmt: skip

    def ask(self, verb, pod, certificate="client"):
        """One call of the extender with all nodes: {node: why not}."""
        body = json.dumps({"Pod": pod, "Nodes": None, "NodeNames": self.nodes})
        answer = json.loads(self.call(self.extender.extender_port, "POST", f"/v1/extender/{verb}", certificate, body))
        self.assertFalse(answer.get("Error"))
        return {**answer["FailedNodes"], **(answer.get("FailedAndUnresolvableNodes") or {})}

    def call(self, port, method, path, certificate, body=None):
        context = ssl.create_default_context(cafile=self.host / "ca.crt")
        if certificate:
            context.load_cert_chain(self.host / f"{certificate}.crt", self.host / f"{certificate}.key")
        link = http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=context)
        self.addCleanup(link.close)
        link.request(method, path, body, {"Content-Type": "application/json"})
        return link.getresponse().read()

    def planned_node(self):
        annotations = self.cluster.get("job", TEAM, "planned")["metadata"]["annotations"]
        (node,) = json.loads(annotations["slackline.dev/plan"])["nodes"]
        return node

    def test_its_pod_is_admitted(self):
        template = self.extender.daemonset["spec"]["template"]
        for namespace, expected in ((NAMESPACE, 201), (SYSTEM, 403)):  # there Pod Security allows no host network
            pod = {**template, "apiVersion": "v1", "kind": "Pod"}
            pod["metadata"] = {**template["metadata"], "name": "as-made", "namespace": namespace}
            if namespace != NAMESPACE:
                pod["spec"] = {**pod["spec"], "serviceAccountName": "default"}
            status, said = self.cluster.request("POST", f"{self.cluster.collection('pod', namespace)}?dryRun=All", pod)
            self.assertEqual(status, expected, said)
        self.assertIn("restricted", said["message"])
        self.assertIn("hostNetwork", said["message"])

    def test_what_lies_on_the_hosts_is_right(self):
        said = self.cluster.kubectl(
            "apply", "--dry-run=server", "--validate=strict", "--warnings-as-errors", "-f", EXISTING / "static-pod.yaml"
        )
        self.assertIn("(server dry run)", said)
        static = self.cluster.kubectl("create", "--dry-run=client", "-o", "json", "-f", EXISTING / "static-pod.yaml")
        (container,) = json.loads(static)["spec"]["containers"]
        self.assertIn(f"--config={ON_HOSTS}/scheduler.yaml", container["command"])
        self.assertIn(ON_HOSTS, [each["mountPath"] for each in container["volumeMounts"]])
        said = slackline("check", "--config", self.extender.config, "--scheduler", self.scheduler_yaml)
        self.assertEqual(
            said.splitlines(), [f"{each}: no findings" for each in (self.extender.config, self.scheduler_yaml)]
        )

    def test_only_kube_scheduler_is_served(self):
        self.assertEqual(self.ask("filter", gpu_pod("asked")), {})
        (self.host / "server.crt").write_text((self.host / "tls.crt").read_text())  # of the same authority
        (self.host / "server.key").write_text((self.host / "tls.key").read_text())
        doors = {self.extender.extender_port: "/v1/extender/filter", self.extender.api_port: "/v1/queue"}
        for port, path in doors.items():
            for certificate in (None, "server"):
                with self.subTest(path, certificate=certificate), self.assertRaises(REFUSED):
                    self.call(port, "POST", path, certificate, "{}")
        self.assertIn(b"items", self.call(self.extender.api_port, "GET", "/v1/queue", "client"))

    def test_the_leaders_plan_is_honoured_and_kube_scheduler_binds(self):
        cluster = self.cluster
        self.addCleanup(lambda: cluster.stop("gpu-scheduler") if "gpu-scheduler" in cluster.parts else None)
        cluster.apply([gpu_job("planned", gpus=4)])

        def let_go():
            pods = [pod for pod in cluster.pods_of("planned", TEAM) if not pod["spec"].get("schedulingGates")]
            return pods and pods[0]

        pod = cluster.wait(let_go, 30, "the leader to plan it")
        mine = self.planned_node()
        (other,) = set(self.nodes) - {mine}
        refused = cluster.wait(lambda: self.ask("filter", pod), 10, "its watch to show the plan")
        self.assertEqual(refused.keys(), {other}, "a plan counts only if its signature is right")
        self.assertEqual(self.ask("filter", gpu_pod("late", gpus=4)).keys(), {mine}, "it is held")

        before = self.extender.requests("filter", result="ok")
        cluster.start_scheduler(self.scheduler_yaml.read_text(), "gpu-scheduler")
        (pod,) = cluster.wait_bound("planned", namespace=TEAM)
        self.assertEqual(node_of(pod), self.planned_node())  # another one after half a minute without a scheduler
        self.assertEqual(cluster.binders()[name_of(pod)], SCHEDULER_USER)
        self.assertGreater(self.extender.requests("filter", result="ok"), before)
        self.assertEqual(self.planning.daemon.requests("filter"), 0)
        log = cluster.parts["gpu-scheduler"].log.read_text()
        self.assertNotIn("forbidden", log)
        self.assertNotIn("x509", log)

    def test_the_rights_are_those_that_are_used(self):
        self.cluster.apply([gpu_job("waits", gpus=4, pods=3)])  # while something waits, it looks whether somebody leads
        self.addCleanup(self.cluster.kubectl, "delete", "job", "waits", "-n", TEAM)
        granted = rights_in(documents(self.cluster, EXISTING), ACCOUNT)
        self.cluster.wait(lambda: used_by(self.cluster, USER) >= granted, 30, "an audit of its cache, and a look")
        refused = [
            event["requestURI"]
            for event in audit_of(self.cluster, USER)
            if event.get("responseStatus", {}).get("code") == 403
        ]
        self.assertEqual(refused, [])
        self.assertEqual({right.split()[0] for right in granted}, {"get", "list", "watch"})


if __name__ == "__main__":
    unittest.main()
