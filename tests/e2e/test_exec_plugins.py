"""Kubeconfigs whose user is a credential plug-in, as those of EKS, GKE and AKS, on a real API server."""

import json
import subprocess
import unittest

from support.controlplane import ControlPlane
from support.daemon import Daemon, slackline, slackline_binary
from support.patience import patient

API = "client.authentication.k8s.io"


class ExecPluginTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cluster = ControlPlane()
        cls.addClassCleanup(cluster.close)
        cluster.add_gpu_nodes(1, 4, "K80")
        cluster.install_rbac()

    def plugin(self, name, version, status):
        """A kubeconfig beside a program that prints this status and counts its runs."""
        folder = self.cluster.directory
        answer = {"kind": "ExecCredential", "apiVersion": f"{API}/{version}", "status": status}
        (folder / f"{name}.json").write_text(json.dumps(answer))
        program = folder / f"{name}.sh"
        program.write_text(f"#!/bin/sh\necho x >>'{folder}/{name}.runs'\ncat '{folder}/{name}.json'\n")
        program.chmod(0o700)
        return self.cluster.pki.kubeconfig(
            folder / f"{name}.kubeconfig", self.cluster.url,
            ["exec:", f"  apiVersion: {API}/{version}", f"  command: ./{name}.sh",
             "  interactiveMode: Never", "  provideClusterInfo: true"],
        )  # fmt: skip

    def runs(self, name):
        path = self.cluster.directory / f"{name}.runs"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def test_the_daemon_lives_on_the_token_of_a_plugin(self):
        token = self.cluster.service_account_token("slackline-system", "slackline")
        kubeconfig = self.plugin("token", "v1", {"token": token, "expirationTimestamp": "2099-01-01T00:00:00Z"})
        with Daemon(kubeconfig, self.cluster.directory / "daemon") as daemon:
            status, text = daemon.get("/v1/nodes")
            self.assertEqual((status, len(json.loads(text)["items"])), (200, 1), text)
        self.assertEqual(self.runs("token"), 1, "all that speak to the API server share its answer")

    def test_release_shows_the_certificate_of_a_plugin(self):
        pki = self.cluster.pki
        kubeconfig = self.plugin(
            "certificate", "v1beta1",
            {"clientCertificateData": pki.crt("admin").read_text(), "clientKeyData": pki.key("admin").read_text()},
        )  # fmt: skip
        said = slackline("release", "--dry-run", "--kubeconfig", kubeconfig)
        self.assertIn("0 objects wait for Slackline", said)
        self.assertEqual(self.runs("certificate"), 1)

    def test_what_a_plugin_says_wrong_is_told(self):
        for name, status, said in [
            ("nobody", {"token": "no.such.token"}, "401"),
            ("empty", {}, "neither a token nor a certificate"),
        ]:
            with self.subTest(name):
                done = subprocess.run(
                    [slackline_binary(), "release", "--dry-run", "--timeout", "5", "--kubeconfig",
                     self.plugin(name, "v1", status)],
                    text=True, capture_output=True, check=False,
                )  # fmt: skip
                self.assertEqual(done.returncode, 3, done.stdout)
                self.assertIn(said, done.stderr)

    def test_the_page_asks_whose_credentials_are_refused_to_log_in_again(self):
        kubeconfig = self.plugin("stale", "v1", {"token": "no.such.token"})
        done = subprocess.run(
            [slackline_binary(), "page", "--kubeconfig", kubeconfig],
            text=True, capture_output=True, check=False, timeout=patient(60),
        )  # fmt: skip
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("log in again", done.stderr)


if __name__ == "__main__":
    unittest.main()
