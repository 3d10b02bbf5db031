"""Every line of kubectl and helm of the pages that people copy from, in order, on a real control plane.

What needs pods of ours is done in their place (`exec`, a rollout, what removes Slackline) or left out (waiting for
them); kind and Docker lines are not run.
"""

import os
import re
import subprocess
import time
import unittest

from support.controlplane import BINARIES, ROOT, ControlPlane, stock_scheduler_config
from support.daemon import slackline_binary
from support.helm import HELM
from support.installation import SYSTEM, PodInstallation, apply_base
from support.objects import TEAM, gpu_job, gpu_node, node_of

EXEC = "kubectl -n slackline-system exec slackline-0 -- slackline "
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Page:
    """A page's commands, and what happens in the world between them."""

    def __init__(self, cluster, name):
        self.cluster = cluster
        self.installed = None  # until it runs
        text = (ROOT / "docs" / name).read_text()
        lines = "\n".join(BLOCK.findall(text)).splitlines()
        self.commands = [line for line in lines if line.startswith(("kubectl ", "helm ", "slackline "))]

    def do(self, until="", then=lambda: None):
        """Runs the next commands up to and with the first one that has `until` in it, or all.

        Returns what that one printed.
        """
        while self.commands:
            command = self.commands.pop(0)
            printed = self._do(command)
            if until and until in command:
                then()
                return printed
        assert not until, f"no command left has {until!r} in it"
        return ""

    def _do(self, command):
        if " rollout status " in command or " wait " in command:
            return ""
        if " rollout restart " in command:
            time.sleep(1.1)  # kubectl refuses a second one within a second
        if command.startswith(EXEC):
            command = "slackline " + command[len(EXEC) :]
        if command.startswith("slackline "):
            words = command.split("#")[0].split()[1:]
            return self._slackline(*words, "--server", self.installed.daemon.api_url)
        if command.startswith("helm uninstall "):
            assert self.installed.daemon.stop() == 0  # as a kubelet ends it, once there are to be no pods
            (status, said), (code, words) = self.installed.helm_uninstall()
            assert (status, code) == (0, 0), said + words
            return said
        path = f"{BINARIES}:{HELM.parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command], cwd=ROOT, text=True, check=False,
            capture_output=True,
            env={**os.environ, "PATH": path, "KUBECONFIG": str(self.cluster.pki_kubeconfig("admin"))},
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        return done.stdout

    @staticmethod
    def _slackline(*words):
        """What it printed; 1 is an answer too: it waits, or will be late."""
        done = subprocess.run([slackline_binary(), *words], text=True, check=False, capture_output=True)
        assert done.returncode in (0, 1), f"slackline {words}\n{done.stderr}"
        return done.stdout

    def run(self):
        self.installed = PodInstallation(self.cluster)
        self.installed.run()

    def run_active(self):
        self.run()
        self.installed.wait_active(TEAM)

    def restart(self):
        self.installed.restart()

    def remove(self):
        """What the Job of deploy/remove does, and a kubelet with the pods that it ends."""
        assert self.installed.daemon.stop() == 0
        code, said = self.installed.run_remove_job()
        assert code == 0, said


class DocsTest(unittest.TestCase):
    def setUp(self):
        self.cluster = ControlPlane()
        self.addCleanup(self.cluster.close)

    def bound(self):
        """Names of the Jobs whose pods have nodes."""
        return {
            pod["metadata"]["labels"]["batch.kubernetes.io/job-name"]
            for pod in self.cluster.list("pod", TEAM)
            if node_of(pod)
        }

    def wait_bound(self, *jobs):
        self.cluster.wait(lambda: self.bound() >= set(jobs), 40, f"{jobs} to be bound")

    def test_the_quickstart(self):
        nodes = [gpu_node(f"slackline-worker{i}", 0) for i in ("", "2")]
        for node in nodes:
            node["status"]["capacity"].pop("nvidia.com/gpu")  # `allocatable` is the same value
        self.cluster.apply(nodes)
        page = Page(self.cluster, "QUICKSTART.md")
        page.do("label namespace", page.run_active)
        page.do("manifests/quickstart.yaml", lambda: self.wait_bound("first-a", "first-b"))
        queue = page.do("slackline queue")
        self.assertLess(queue.index("soon"), queue.index("later"), queue)
        self.assertIn("Planned", page.do("get events"))
        self.assertRegex(page.do("get job soon"), r"^\d{4}-\d\d-\d\dT")
        self.assertEqual(self.bound(), {"first-a", "first-b"})
        page.do("delete job", lambda: self.wait_bound("soon", "later"))
        self.assertIn('"nodes"', page.do("get job soon"))
        travels = Page(self.cluster, "HOW-A-TASK-TRAVELS.md")
        travels.installed = page.installed
        self.assertIn("gates= nominated= node=slackline-worker", travels.do("get pods"))
        travels.do()
        page.do()
        self.assertIsNone(self.cluster.get("namespace", None, SYSTEM))

    def test_turning_active_mode_on_and_off(self):
        self.cluster.start_scheduler(stock_scheduler_config(self.cluster, "default-scheduler"))
        self.cluster.add_gpu_nodes(1, 4, "K80")
        apply_base(self.cluster)
        self.cluster.kubectl("create", "namespace", TEAM)
        page = Page(self.cluster, "ACTIVE-MODE.md")
        page.do("rollout restart", page.run)
        self.assertIn("node-0", page.do("slackline nodes"))
        page.do("rollout restart", page.restart)
        page.do("rollout restart", page.restart)
        page.do("label namespace", lambda: page.installed.wait_active(TEAM))
        page.do("create rolebinding")
        self.apply_jobs("first", "second")
        self.wait_bound("first")
        page.do("slackline.dev/managed-")
        self.cluster.wait(lambda: not self.is_queued("third"), 10, "the label's end to be heard")
        self.cluster.wait(lambda: not self.suspended("second"), 10, "what waits to be given back")
        self.cluster.kubectl("delete", "job", "first", "-n", TEAM)
        self.wait_bound("second")
        page.do("rollout restart", page.restart)
        page.do("apply -k deploy/remove", page.remove)
        page.do("delete -k deploy/base")
        apply_base(self.cluster)
        page.do()

    def test_a_researchers_first_ten_minutes(self):
        self.cluster.add_gpu_nodes(1, 4, "Tesla-K80")
        apply_base(self.cluster)
        self.cluster.kubectl("create", "namespace", TEAM)
        self.cluster.kubectl("label", "namespace", TEAM, "slackline.dev/managed=true")
        page = Page(self.cluster, "RESEARCHERS.md")
        page.run_active()
        text = (ROOT / "docs/RESEARCHERS.md").read_text()
        shown = re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1]
        self.assertIn(shown, (ROOT / "manifests/researcher.yaml").read_text(), "the page shows the file as it is")
        self.assertIn("K80", page.do("slackline cluster"))
        self.assertIn("K80", page.do("slackline quote"))
        self.assertIn("node-0", page.do("slackline try"))
        self.assertEqual(self.cluster.list("job", TEAM), [], "asking creates nothing")
        page.do("apply -f", lambda: self.wait_bound("first-training"))
        self.assertIn("first-training", page.do("slackline why"))
        self.assertIn("first-training", page.do("slackline eta"))
        self.assertIn("running", page.do("slackline queue team-a/first-training"))
        self.assertIn("as submitted", page.do("slackline placements"))
        self.assertIn("Planned", page.do("describe job"))
        page.do("delete job")
        page.do("slackline history")
        self.assertEqual(page.commands, [])

    def apply_jobs(self, *names):
        self.cluster.apply([gpu_job(name, gpus=4) for name in names])

    def suspended(self, name):
        return self.cluster.get("job", TEAM, name)["spec"]["suspend"]

    def is_queued(self, name):
        """Whether such a Job would be, if it were created now."""
        path = f"/apis/batch/v1/namespaces/{TEAM}/jobs?dryRun=All"
        return self.cluster.request("POST", path, gpu_job(name))[1]["spec"]["suspend"]


if __name__ == "__main__":
    unittest.main()
