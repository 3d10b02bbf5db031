"""REST off loopback: the API server says who asks, and what they may see."""

import contextlib
import http.client
import os
import ssl
import subprocess
import unittest

from support.browser import Browser
from support.controlplane import ROOT, ControlPlane
from support.daemon import Daemon, slackline_binary
from support.objects import TEAM, gpu_job

OTHERS = "others"


class ApiRightsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cluster = ControlPlane()
        cls.addClassCleanup(cluster.close)
        cluster.add_gpu_nodes(1, 4, "K80")
        account = cluster.install_rbac()
        cluster.kubectl("apply", "-k", ROOT / "deploy/webhook")
        cluster.kubectl("apply", "--validate=strict", "--warnings-as-errors", "-k", ROOT / "deploy/api")
        for namespace in (TEAM, OTHERS):
            cluster.kubectl("create", "namespace", namespace)
            cluster.kubectl("create", "serviceaccount", "jane", "-n", namespace)
            cluster.apply([gpu_job(f"of-{namespace}", namespace=namespace)])
        cluster.kubectl("create", "rolebinding", "jane", "-n", TEAM, "--clusterrole=view",
                        f"--serviceaccount={TEAM}:jane")  # fmt: skip
        pki = cluster.pki
        tls = f"{{certFile: {pki.crt('extender')}, keyFile: {pki.key('extender')}}}"
        cls.daemon = Daemon(account, cluster.directory, settings=f"listeners: {{api: {{tls: {tls}}}}}\n")
        argv = cls.daemon.process.argv
        argv[argv.index("--listen-api") + 1] = f"0.0.0.0:{cls.daemon.api_port}"
        cls.addClassCleanup(cls.daemon.kill)
        cls.daemon.start()
        cls.jane = cluster.service_account_token(TEAM, "jane")

    def ask(self, *question, token=None):
        """What the command line says, and whether it was answered."""
        done = subprocess.run(
            [slackline_binary(), *question, "--server", f"https://localhost:{self.daemon.api_port}",
             "--ca-file", self.cluster.pki.crt("ca")],
            text=True, capture_output=True, check=False,
            env={**os.environ, "SLACKLINE_TOKEN": token or ""},
        )  # fmt: skip
        return done.returncode == 0, done.stdout + done.stderr

    def send(self, method, token, body=None):
        """Of one model: the status of the answer and its text."""
        trusting = ssl.create_default_context(cafile=self.cluster.pki.crt("ca"))
        link = http.client.HTTPSConnection("localhost", self.daemon.api_port, timeout=10, context=trusting)
        with contextlib.closing(link):
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            link.request(method, "/v1/models/newnet", body, headers)
            answer = link.getresponse()
            return answer.status, answer.read().decode()

    def test_who_may_view_a_namespace_may_ask_about_it(self):
        # The controller manager adds Slackline's role to `view` after a while.
        self.cluster.wait(lambda: self.ask("tasks", "-n", TEAM, token=self.jane)[0], 20, "the right to be seen")
        answered, said = self.ask("tasks", "-n", TEAM, token=self.jane)
        self.assertTrue(answered, said)
        self.assertIn(f"of-{TEAM}", said)
        self.assertNotIn(f"of-{OTHERS}", said)

    def test_the_page_itself_needs_no_token_and_holds_no_data(self):
        trusting = ssl.create_default_context(cafile=self.cluster.pki.crt("ca"))
        for path, status in {
            "/": 200,
            "/page/app.js": 200,
            "/page/style.css": 200,
            "/v1/queue": 401,
            "/v1/events": 401,
        }.items():
            link = http.client.HTTPSConnection("localhost", self.daemon.api_port, timeout=10, context=trusting)
            with contextlib.closing(link), self.subTest(path):
                link.request("GET", path)
                answer = link.getresponse()
                self.assertEqual(answer.status, status)
                self.assertNotIn(f"of-{TEAM}", answer.read().decode())

    def test_the_page_shows_a_namespace_to_who_may_view_it(self):
        self.cluster.wait(lambda: self.ask("tasks", "-n", TEAM, token=self.jane)[0], 20, "the right to be seen")
        with subprocess.Popen(
            [slackline_binary(), "page", "--server", f"https://localhost:{self.daemon.api_port}", "--ca-file",
             self.cluster.pki.crt("ca"), "--token", self.jane],
            stdout=subprocess.PIPE, text=True,
        ) as page:  # fmt: skip
            self.addCleanup(page.kill)
            site, secret = page.stdout.readline().strip().split("/#token=")
            browser = Browser(site)
            self.addCleanup(browser.close)
            browser.driver.get(f"{site}/#token={secret}")
            browser.wait_text("If you may view one namespace, name it above.")
            for state in ("queue", "timeline", "report", f"task/{TEAM}/of-{TEAM}"):
                browser.run("location.hash = arguments[0]", f"#/{state}?ns={TEAM}")
                browser.wait("!document.querySelector('main[aria-busy]')", 10, state)
                self.assertNotIn("You may not see this", browser.text("main"), state)
                self.assertNotIn(OTHERS, browser.text("main"), state)
            self.assertIn(f"of-{TEAM}", browser.text("main"))
            browser.run("location.hash = arguments[0]", f"#/queue?ns={OTHERS}")
            browser.wait_text("may not get queue.slackline.dev in the namespace others")
            self.assertNotIn(f"of-{OTHERS}", browser.text("main"))
            page.terminate()

    def test_to_delete_what_was_learnt_is_a_right_of_its_own(self):
        cluster = self.cluster
        for who, role in (("reader", "slackline-view"), ("teacher", "slackline-teach")):
            cluster.kubectl("create", "serviceaccount", who, "-n", TEAM)
            cluster.kubectl("create", "clusterrolebinding", who, f"--clusterrole={role}",
                            f"--serviceaccount={TEAM}:{who}")  # fmt: skip
        reader, teacher = (cluster.service_account_token(TEAM, who) for who in ("reader", "teacher"))
        self.assertEqual(self.send("PUT", teacher, "{}")[0], 200)
        status, said = self.send("DELETE", reader)
        self.assertEqual(status, 403)
        self.assertIn("may not delete models.slackline.dev", said)
        self.assertEqual(self.send("GET", reader)[0], 200, "it is still there")
        status, said = self.send("DELETE", teacher)
        self.assertEqual(status, 200, said)
        self.assertEqual(self.send("GET", reader)[0], 404)

    def test_nobody_else_may(self):
        answered, said = self.ask("tasks", "-n", OTHERS, token=self.jane)
        self.assertFalse(answered)
        self.assertIn("may not get tasks.slackline.dev in the namespace others", said)
        for question in (["tasks"], ["nodes"], ["queue"], ["models"], ["cluster"]):
            answered, said = self.ask(*question, token=self.jane)
            self.assertFalse(answered, f"{question}: {said}")
            self.assertIn("in all namespaces", said)
        for token in (None, "stolen", self.jane[:-4] + "AAAA"):
            answered, said = self.ask("tasks", "-n", TEAM, token=token)
            self.assertFalse(answered, said)
            self.assertIn("401", said)


if __name__ == "__main__":
    unittest.main()
