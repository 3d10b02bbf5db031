"""The aggregated API visibility.slackline.dev/v1 behind a real API server: who has a kubeconfig needs nothing else."""

import http.client
import json
import re
import ssl
import subprocess
import unittest

from support.controlplane import BINARIES, ROOT, ControlPlane
from support.daemon import Daemon, slackline_binary
from support.helm import rendered
from support.installation import SYSTEM, WEBHOOK, webhook_manifests
from support.objects import MANAGED, TEAM, gpu_job, gpu_node
from support.process import free_ports

OTHERS = "team-b"
API = "/apis/visibility.slackline.dev/v1"
SERVICE = "v1.visibility.slackline.dev"
JANE = ("--as=jane", "--as-group=system:authenticated")
NAME = f"slackline-webhook.{SYSTEM}.svc"  # by which the API server knows the daemon


def chart_objects(port):
    """What the chart adds for the aggregated API."""
    text = rendered(f"visibility: {{enabled: true, port: {port}}}")
    documents = re.split(r"^---\n", text, flags=re.MULTILINE)
    ours = [each for each in documents if each.startswith("# Source: slackline/templates/visibility/")]
    assert len(ours) == 5, ours
    return ours


def here(port):
    """The Service, on this machine."""
    return {
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "slackline-webhook", "namespace": SYSTEM},
        "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]},
    }  # fmt: skip


class VisibilityTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cluster = ControlPlane(kubelets=False, aggregates=True)
        cls.addClassCleanup(cluster.close)
        account = cluster.install_rbac()
        for file in (WEBHOOK / "rbac.yaml", ROOT / "deploy/api/rbac.yaml"):
            cluster.kubectl("apply", "--validate=strict", "-f", file)
        cluster.apply([gpu_node("n", 4, "K80", ready=True)])
        for namespace in (TEAM, OTHERS):
            cluster.add_namespace(namespace, MANAGED)
            cluster.apply([gpu_job(f"of-{namespace}", namespace=namespace)])
        cluster.kubectl("create", "rolebinding", "jane", "-n", TEAM, "--clusterrole=view", "--user=jane")
        cls.replicas, cls.ports = [], []
        for name in ("replica-0", "replica-1"):
            webhook, port = free_ports(2)
            daemon = Daemon(
                account, cluster.directory / name,
                settings=f'listeners: {{webhook: {{address: "127.0.0.1:{webhook}"}}, visibility: {{address: "127.0.0.1:{port}"}}}}\n'
                f"webhook: {{certificate: {{names: [127.0.0.1, {NAME}]}}}}\n",
            )  # fmt: skip
            cls.addClassCleanup(daemon.kill)
            cls.replicas.append(daemon)
            cls.ports.append(port)
            if name == "replica-0":
                cluster.apply(webhook_manifests(webhook))
        # Before it may read whom to believe.
        cls.replicas[0].start()
        cls.unread = cls.refused(cls.ports[0], "front-proxy"), cls.replicas[0].process.tail(200)
        cluster.apply("---\n".join([*chart_objects(cls.ports[0]), json.dumps(here(cls.ports[0]))]))
        cls.replicas[0].restart()
        cls.replicas[1].start()
        cluster.wait(lambda: cls.get(f"{API}/readyz")[0] == 0, 60, "the API server to find the API")
        cluster.wait(lambda: cls.get(f"{API}/namespaces/{TEAM}/tasks", *JANE)[0] == 0, 30, "the role view to have it")

    @classmethod
    def get(cls, path, *who):
        return cls.cluster.try_kubectl("get", "--raw", path, *who)

    @classmethod
    def direct(cls, port, client, headers=None, path=f"/namespaces/{TEAM}/tasks"):
        """Past the API server: (status, text)."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if client:
            context.load_cert_chain(cls.cluster.pki.crt(client), cls.cluster.pki.key(client))
        link = http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=context)
        try:
            link.request("GET", API + path, headers=headers or {})
            answer = link.getresponse()
            return answer.status, answer.read().decode()
        finally:
            link.close()

    @classmethod
    def refused(cls, port, client):
        """Why the handshake failed; empty where it did not."""
        try:
            cls.direct(port, client, {"X-Remote-User": "admin", "X-Remote-Group": "system:masters"})
        except (ssl.SSLError, ConnectionError, http.client.RemoteDisconnected) as error:
            return str(error) or type(error).__name__
        return ""

    def test_without_the_right_to_read_whom_to_believe_it_refuses_and_goes_on(self):
        refusal, log = self.unread
        self.assertTrue(refusal, "the certificate of the front proxy itself was not known")
        self.assertIn("extension-apiserver-authentication-reader", log)

    def test_who_may_view_a_namespace_may_ask_about_it(self):
        failed, said = self.get(f"{API}/namespaces/{TEAM}/tasks", *JANE)
        self.assertEqual(failed, 0, said)
        self.assertIn(f"of-{TEAM}", said)
        self.assertNotIn(f"of-{OTHERS}", said)
        failed, said = self.get(f"{API}/namespaces/{TEAM}/tasks/of-{TEAM}/explain?output=table", *JANE)
        self.assertEqual(failed, 0, said)
        for path in (f"/namespaces/{OTHERS}/tasks", "/tasks", "/nodes", "/metrics"):
            failed, said = self.get(API + path, *JANE)
            self.assertNotEqual(failed, 0, path)
            self.assertIn("orbidden", said)
        self.assertIn(f"of-{OTHERS}", self.get(f"{API}/tasks")[1], "the administrator sees all")

    def test_the_documented_line_works(self):
        text = (ROOT / "docs/OPERATIONS.md").read_text()
        line, *_ = re.findall(rf"^kubectl get --raw '({API}/[^']*)'", text, re.MULTILINE)
        failed, said = self.get(line, *JANE)
        self.assertEqual(failed, 0, said)
        self.assertIn("DEADLINE", said)

    def test_only_the_front_proxy_is_believed(self):
        for port in self.ports:
            for client in (None, "admin", "scheduler"):
                self.assertTrue(self.refused(port, client), client)
            status, said = self.direct(port, "front-proxy", {"X-Remote-User": "nobody"})
            self.assertEqual(status, 403, said)
            self.assertIn("nobody may not", said)
            self.assertEqual(self.direct(port, "front-proxy")[0], 403, "it names nobody")

    def test_both_replicas_serve_it(self):
        for port in self.ports:
            status, said = self.direct(port, "front-proxy", {"X-Remote-User": "jane"})
            self.assertEqual(status, 200, said)
            self.assertIn(f"of-{TEAM}", said)

    def test_the_cluster_goes_on_as_before(self):
        status, listed = self.cluster.request("GET", API)
        self.assertEqual(status, 200)
        self.assertEqual({verb for each in listed["resources"] for verb in each["verbs"]}, {"get", "create"})
        failed, said = self.cluster.try_kubectl("get", "all", "-n", TEAM)
        self.assertEqual(failed, 0, said)
        self.assertNotIn("visibility", said)
        self.assertEqual(self.cluster.try_kubectl("get", "nodes")[0], 0, "the cluster's own")
        self.cluster.add_namespace("short-lived")
        self.cluster.kubectl("delete", "namespace", "short-lived", "--timeout=30s")
        failed, said = self.get(f"{API}/namespaces/{TEAM}/secrets")
        self.assertNotEqual(failed, 0)
        self.assertIn("NotFound", said)

    def plugin(self, *words):
        folder = self.cluster.directory / "plugins"
        folder.mkdir(exist_ok=True)
        if not (folder / "kubectl-slackline").exists():
            (folder / "kubectl-slackline").symlink_to(slackline_binary())
        done = subprocess.run(
            [BINARIES / "kubectl", "slackline", *words], text=True, capture_output=True, check=False,
            env={"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(folder),
                 "KUBECONFIG": str(self.cluster.pki_kubeconfig("admin"))},
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    def test_the_plugin_needs_a_kubeconfig_and_nothing_else(self):
        code, told, said = self.plugin("tasks", "-n", TEAM, *JANE)
        self.assertEqual(code, 0, said)
        self.assertIn(f"of-{TEAM}", told)
        code, _, said = self.plugin("tasks", "-A", *JANE)
        self.assertNotEqual(code, 0)
        self.assertIn("slackline-visibility-view", said)
        self.assertIn(f"of-{OTHERS}", self.plugin("tasks", "-A")[1])
        manifest = self.cluster.directory / "next.json"
        manifest.write_text(json.dumps(gpu_job("next", namespace=TEAM)))
        code, told, said = self.plugin("quote", "-n", TEAM, "-f", str(manifest), *JANE)
        self.assertEqual(code, 0, told + said)
        self.assertIn("K80", told)
        manifest.write_text(json.dumps(gpu_job("next", namespace=OTHERS)))
        code, _, said = self.plugin("quote", "-f", str(manifest), *JANE)
        self.assertEqual(code, 3, said)
        self.assertIn("quote", said)
        code, _, said = self.plugin("models", "mine", "--delete")
        self.assertNotEqual(code, 0)
        self.assertIn("--server", said)

    def test_zz_without_it_the_plugin_asks_the_service_proxy(self):
        try:
            self.replicas[0].kill()
            self.cluster.wait(lambda: self.get(API)[0] != 0, 60, "the API server to notice")
            code, _, said = self.plugin("tasks", "-n", TEAM)
            self.assertNotEqual(code, 0)
            self.assertIn(f"kubectl get apiservice {SERVICE}", said)
            (command,) = set(
                re.findall(rf"kubectl (delete apiservice {SERVICE})", (ROOT / "docs/OPERATIONS.md").read_text())
            )
            self.cluster.kubectl(*command.split())
            self.cluster.wait(lambda: "NotFound" in self.get(API)[1], 30, "it to be gone")
            self.assertIn("services", self.plugin("tasks", "-n", TEAM, *JANE)[2])
        finally:
            self.replicas[0].start()


if __name__ == "__main__":
    unittest.main()
