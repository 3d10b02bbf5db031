"""REST read through the API server's own proxy, by people who have nothing but kubectl."""

import json
import re
import shutil
import socket
import subprocess
import unittest
import urllib.error
import urllib.request

from support.controlplane import BINARIES, ROOT, ControlPlane
from support.daemon import Daemon, slackline_binary
from support.installation import SYSTEM
from support.objects import TEAM, gpu_job
from support.process import free_ports

VIEWER = ("--as=jane", "--as-group=slackline:viewers", "--as-group=system:authenticated")
PROXY = f"/api/v1/namespaces/{SYSTEM}/services/slackline-view/proxy"
ADDRESS = "198.51.100.7"  # of the documentation's range; on lo, where the machine has no other


def own_address():
    """An address of this machine that is no loopback one: the API server's proxy asks no other."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent
            return probe.getsockname()[0]
        except OSError:
            pass
    done = subprocess.run(
        ["ip", "address", "replace", f"{ADDRESS}/32", "dev", "lo"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise unittest.SkipTest(f"no address but loopback, and none can be added: {done.stderr}")
    return ADDRESS


def daemon_pod(address):
    """What stands in for a replica's pod: only its address is asked for."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "slackline-0", "namespace": SYSTEM,
            "labels": {"app.kubernetes.io/name": "slackline", "app.kubernetes.io/component": "daemon"},
        },
        "spec": {
            "nodeName": "daemons",
            "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{
                "name": "slackline", "image": "slackline",
                "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
            }],
        },
    }, {
        "status": {
            "phase": "Running", "podIP": address, "podIPs": [{"ip": address}],
            "conditions": [{"type": "Ready", "status": "True"}],
        }
    }  # fmt: skip


class ViewProxyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        address = own_address()
        cls.cluster = cluster = ControlPlane(kubelets=False)
        cls.addClassCleanup(cluster.close)
        account = cluster.install_rbac()
        cluster.kubectl("apply", "--validate=strict", "--warnings-as-errors", "-k", ROOT / "deploy/proxy")
        (port,) = free_ports(1)
        cls.daemon = Daemon(
            account, cluster.directory / "daemon", settings=f'listeners: {{proxyApi: {{address: ":{port}"}}}}\n'
        )
        cls.addClassCleanup(cls.daemon.kill)
        cls.daemon.start()
        cluster.kubectl("create", "namespace", TEAM)
        cluster.apply([gpu_job("train", namespace=TEAM)])
        # The Service calls the port that was free here.
        cluster.kubectl("-n", SYSTEM, "patch", "service", "slackline-view", "--type=json",
                        f'-p=[{{"op":"replace","path":"/spec/ports/0/targetPort","value":{port}}}]')  # fmt: skip
        pod, running = daemon_pod(address)
        cluster.apply([{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "daemons"}}])
        cluster.apply([pod])
        path = f"/api/v1/namespaces/{SYSTEM}/pods/slackline-0/status"
        assert cluster.request("PATCH", path, running)[0] == 200
        cluster.wait(lambda: cls.get(f"{PROXY}/readyz")[0] == 0, 30, "the proxy to find the pod")

    @classmethod
    def get(cls, path, *who):
        return cls.cluster.try_kubectl("get", "--raw", path, *(who or VIEWER))

    def documented(self):
        text = (ROOT / "docs/OPERATIONS.md").read_text()
        (line,) = re.findall(r"^kubectl get --raw '(/api/v1/[^']*)'", text, re.MULTILINE)
        return line

    def test_the_documented_line_works(self):
        failed, said = self.get(self.documented())
        self.assertEqual(failed, 0, said)
        self.assertIn("DEADLINE", said)
        self.assertIn("train", self.get(f"{PROXY}/v1/tasks?output=table&namespace={TEAM}")[1])

    def test_others_may_not(self):
        failed, said = self.get(f"{PROXY}/v1/tasks", "--as=somebody", "--as-group=system:authenticated")
        self.assertNotEqual(failed, 0)
        self.assertIn("services/proxy", said)
        other = f"/api/v1/namespaces/{SYSTEM}/services/slackline-metrics/proxy/metrics"
        self.assertIn("orbidden", self.get(other)[1], "the right is to this Service alone")

    def test_nothing_can_be_changed(self):
        for method, what in (
            ("PUT", "/v1/models/mine"),
            ("POST", "/v1/models/mine/samples"),
            ("DELETE", "/v1/models/mine"),
        ):
            with self.subTest(method):
                status, said = self.cluster.request(method, PROXY + what, {})
                self.assertIn(status, (404, 405), said)
        self.assertNotIn("mine", self.get(f"{PROXY}/v1/models")[1])

    def test_the_command_line_goes_through_it_with_a_token_of_the_cluster(self):
        cluster = self.cluster
        cluster.kubectl("create", "serviceaccount", "jane", "-n", TEAM)
        cluster.kubectl("create", "rolebinding", "jane", "-n", SYSTEM, "--role=slackline-view-proxy",
                        f"--serviceaccount={TEAM}:jane")  # fmt: skip
        token = cluster.service_account_token(TEAM, "jane")
        done = subprocess.run(
            [slackline_binary(), "tasks", "-n", TEAM, "--server", cluster.url + PROXY,
             "--ca-file", cluster.pki.crt("ca"), "--token", token],
            text=True, capture_output=True, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("train", done.stdout)

    def plugin(self, *words, namespace="default"):
        """What the real kubectl makes of its words, with the program in PATH under both its names."""
        folder = self.cluster.directory / "plugins"
        folder.mkdir(exist_ok=True)
        for name in ("kubectl-slackline", "kubectl_complete-slackline"):
            if not (folder / name).exists():
                (folder / name).symlink_to(slackline_binary())
        config = folder / f"{namespace}.yaml"
        if not config.exists():
            shutil.copy(self.cluster.pki_kubeconfig("admin"), config)
            subprocess.run(
                [BINARIES / "kubectl", f"--kubeconfig={config}", "config", "set-context", "--current",
                 f"--namespace={namespace}"],
                capture_output=True, check=True,
            )  # fmt: skip
        environment = {"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(folder), "KUBECONFIG": str(config)}
        done = subprocess.run(
            [BINARIES / "kubectl", *words], text=True, capture_output=True, check=False, env=environment,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    def test_kubectl_calls_the_program_as_its_plugin(self):
        # Namespaces as kubectl has them.
        self.assertIn("train", self.plugin("slackline", "tasks", "-n", TEAM)[1])
        self.assertNotIn("train", self.plugin("slackline", "tasks")[1])
        self.assertIn("train", self.plugin("slackline", "tasks", namespace=TEAM)[1])
        self.assertIn("train", self.plugin("slackline", "tasks", "-A", "--request-timeout=20")[1])
        code, _, said = self.plugin("slackline", "queue", "train", "-A")
        self.assertEqual(code, 2, said)
        self.assertIn("NAMESPACE/NAME", said)
        # Credentials as kubectl has them.
        code, _, said = self.plugin("slackline", "tasks", "-A", "--as=somebody", "--as-group=system:authenticated")
        self.assertEqual(code, 3, said)
        self.assertRegex(said, "kubectl slackline: .*somebody.*services/proxy")
        self.assertIn("train", self.plugin("slackline", "tasks", "-A", *VIEWER)[1])
        code, _, said = self.plugin("slackline", "tasks", "--context=nowhere")
        self.assertEqual(code, 3)
        self.assertIn("nowhere", said)

    def test_the_plugin_refuses_what_it_cannot_do(self):
        for words, code, hint in (
            (("tasks", "--cluster", "other"), 2, "--cluster: this flag of kubectl is not supported: choose a context"),
            (("queue", "-l", "a=b"), 2, "filter what"),
            (("queue", "--server=http://localhost:1", "--as=jane"), 2, "leave --server out"),
            (("queue", "--request-timeout=soon"), 2, "--request-timeout"),
            (("serve",), 2, "kubectl slackline: unknown command"),
            (("models", "mine", "--delete"), 3, "--server"),
        ):
            with self.subTest(words):
                done, _, said = self.plugin("slackline", *words)
                self.assertEqual(done, code, said)
                self.assertIn(hint, said)

    def test_the_plugin_says_how_it_is_called_and_completes(self):
        for words in (("--help",), ("help", "quote"), ("queue", "--help")):
            said = self.plugin("slackline", *words)[1]
            self.assertRegex(said, "(?m)^ *(Usage: )?kubectl slackline ")
            self.assertNotRegex(said, "(?m)^ *(Usage: )?slackline ")
        self.assertNotIn("simulate", self.plugin("slackline", "--help")[1])
        for words, choice in (
            (("wh",), "whatif\t"),
            (("queue", "--all"), "--all-namespaces\t"),
            (("queue", "-o", "y"), "yaml"),
            (("tasks", "-n", TEAM, "t"), "train"),
            (("tasks", f"{TEAM}/"), f"{TEAM}/train"),
        ):
            with self.subTest(words):
                self.assertIn(choice, self.plugin("__complete", "slackline", *words)[1])
        script = self.plugin("slackline", "completion")[1]
        self.assertIn("kubectl slackline __complete", script)
        self.assertIn("whatif\t", self.plugin("slackline", "__complete", "wh")[1])

    def test_slackline_page_takes_a_kubeconfig_and_nothing_else(self):
        with subprocess.Popen(
            [slackline_binary(), "page", "--kubeconfig", self.cluster.pki_kubeconfig("admin")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as page:  # fmt: skip
            try:
                site, secret = page.stdout.readline().strip().split("/#token=")
                self.assertIn("<title>Slackline", self._open(site, ""))
                told = json.loads(self._open(f"{site}/v1/tasks?namespace={TEAM}&search=train", secret))
                self.assertEqual([one["name"] for one in told["items"]], ["train"])
                with self.assertRaises(urllib.error.HTTPError) as refused:
                    self._open(f"{site}/v1/tasks", "somebody")
                refused.exception.close()
                self.assertEqual(refused.exception.code, 401)
            finally:
                page.terminate()
                page.wait()

    @staticmethod
    def _open(url, secret):
        asked = urllib.request.Request(url, headers={"Authorization": f"Bearer {secret}"})
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return answer.read().decode()

    def test_the_page_comes_through_the_proxy_and_its_files_too(self):
        self.assertIn("page/app.js", self.get(f"{PROXY}/")[1])
        self.assertIn("export default", self.get(f"{PROXY}/page/queue.js")[1])


if __name__ == "__main__":
    unittest.main()
