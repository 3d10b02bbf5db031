"""What `serve` asks of a cluster before it writes there: rights, and the policies that hold its own writes."""

import json
import subprocess
import unittest

from support.controlplane import DAEMON_USER, MINOR, ROOT, ControlPlane
from support.daemon import Daemon, slackline_binary
from support.installation import wait_leading

RBAC = ROOT / "deploy/rbac"
POLICY = "slackline-own-writes-of-jobs"
BINDING = f"validatingadmissionpolicybinding/{POLICY}"


class OlderClusterTest(unittest.TestCase):
    @unittest.skipIf(MINOR > 36, "SKIPPED: this API server emulates no version that is too old")
    def test_it_is_refused_in_every_mode_before_anything_is_written(self):
        cluster = ControlPlane(kubelets=False, emulates="1.33")
        self.addCleanup(cluster.close)
        account = cluster.install_rbac()
        refusal = "the cluster is Kubernetes 1.33; Slackline needs 1.34 or newer"
        for mode in ("shadow", "active"):
            with self.subTest(mode):
                daemon = Daemon(account, cluster.directory / mode, mode)
                self.addCleanup(daemon.kill)
                daemon.process.start()
                cluster.wait(lambda daemon=daemon: not daemon.process.alive(), 20, "it to end")
                self.assertIn(refusal, daemon.process.log.read_text())
        asked = {event["requestURI"] for event in cluster.audit() if event["user"]["username"] == DAEMON_USER}
        self.assertEqual(asked, {"/version"})
        check = [slackline_binary(), "check", "--cluster", "kube", "--kubeconfig", cluster.pki_kubeconfig("admin")]
        done = subprocess.run(check, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, f"cluster: error: {refusal}\n"), done.stderr)


class StartCheckTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ControlPlane()
        cls.addClassCleanup(cls.cluster.close)
        cls.account = cls.cluster.install_rbac()

    def daemon(self, mode):
        daemon = Daemon(self.account, self.cluster.directory / f"{self._testMethodName}-{mode}", mode)
        self.cluster.adopt(daemon.process, f"slackline {mode}")
        return daemon

    def refusal(self):
        """What active mode says when it does not start; it has written nothing."""
        before = self.writes()
        daemon = self.daemon("active")
        daemon.process.start()
        self.cluster.wait(lambda: not daemon.process.alive(), 30, "it to end")
        said = daemon.process.log.read_text()
        self.assertEqual(self.writes(), before, said)
        self.assertIn("active mode is not started, and nothing was written: ", said)
        return said

    def writes(self):
        """Of the daemon's account, but for its questions about itself."""
        return [
            event["requestURI"]
            for event in self.cluster.audit()
            if event["user"]["username"] == DAEMON_USER
            and event["verb"] not in ("get", "list", "watch")
            and not event["objectRef"]["resource"].startswith("selfsubject")
        ]

    def test_rights_that_are_missing_are_named(self):
        role = json.loads(self.cluster.kubectl("get", "clusterrole", "slackline", "-o", "json"))
        rules = [rule for rule in role["rules"] if not ("patch" in rule["verbs"] and "jobs" in rule["resources"])]
        self.assertEqual(len(rules), len(role["rules"]) - 1)
        self.patch_role(rules)
        self.addCleanup(self.patch_role, role["rules"])
        said = self.refusal()
        self.assertIn(f"{DAEMON_USER} may not patch jobs.batch (`helm upgrade`, or apply deploy/rbac)", said)
        with self.daemon("shadow") as only_looks:
            self.assertTrue(only_looks.process.alive(), "it needs none of them")

    def patch_role(self, rules):
        patch = json.dumps({"rules": rules})
        self.cluster.kubectl("patch", "clusterrole", "slackline", "--type=merge", "-p", patch)

    def test_a_policy_that_is_absent_is_named(self):
        self.cluster.kubectl("delete", BINDING)
        self.addCleanup(self.apply_policies)
        said = self.refusal()
        self.assertIn(f"no ValidatingAdmissionPolicyBinding {POLICY}, so that nothing holds its account", said)

    def apply_policies(self):
        self.cluster.kubectl("apply", "-f", ROOT / "deploy/policy/own-writes.yaml")

    def test_what_comes_with_the_daemon_may_come_a_moment_later(self):
        self.cluster.kubectl("delete", BINDING)
        self.addCleanup(self.apply_policies)
        daemon = self.daemon("active")
        daemon.process.start()
        self.apply_policies()
        daemon.wait_ready()
        wait_leading(self.cluster, daemon)
        daemon.stop()


if __name__ == "__main__":
    unittest.main()
