"""REST off loopback: the API server says who asks, and what they may see."""

import contextlib
import http.client
import json
import os
import ssl
import subprocess
import unittest

from support.browser import Browser
from support.controlplane import ROOT, ControlPlane
from support.daemon import Daemon, slackline, slackline_binary
from support.objects import TEAM, gpu_job

OTHERS = "others"


class ApiRightsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cluster = ControlPlane()
        cls.addClassCleanup(cluster.close)
        cluster.add_gpu_nodes(1, 4, "K80")
        cls.account = account = cluster.install_rbac()
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

    def token_of(self, who, role):
        """Of a new account that has the role in the whole cluster."""
        self.cluster.kubectl("create", "serviceaccount", who, "-n", TEAM)
        self.cluster.kubectl("create", "clusterrolebinding", who, f"--clusterrole={role}",
                             f"--serviceaccount={TEAM}:{who}")  # fmt: skip
        return self.cluster.service_account_token(TEAM, who)

    def send(self, method, token, body=None, path=""):
        """Of one model: the status of the answer and its text."""
        trusting = ssl.create_default_context(cafile=self.cluster.pki.crt("ca"))
        link = http.client.HTTPSConnection("localhost", self.daemon.api_port, timeout=10, context=trusting)
        with contextlib.closing(link):
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            link.request(method, "/v1/models/newnet" + path, body, headers)
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

    def test_a_page_whose_token_is_known_no_more_says_so(self):
        leaver = self.token_of("leaver", "slackline-view")
        self.cluster.wait(lambda: self.ask("tasks", token=leaver)[0], 20, "the right to be seen")
        with subprocess.Popen(
            [slackline_binary(), "page", "--server", f"https://localhost:{self.daemon.api_port}", "--ca-file",
             self.cluster.pki.crt("ca"), "--token", leaver],
            stdout=subprocess.PIPE, text=True,
        ) as page:  # fmt: skip
            self.addCleanup(page.kill)
            site, secret = page.stdout.readline().strip().split("/#token=")

            def answer():
                link = http.client.HTTPConnection(site.removeprefix("http://"), timeout=10)
                with contextlib.closing(link):
                    link.request("GET", "/v1/tasks", headers={"Authorization": f"Bearer {secret}"})
                    told = link.getresponse()
                    return told.status, told.read().decode()

            self.assertEqual(answer()[0], 200)
            self.cluster.kubectl("delete", "serviceaccount", "leaver", "-n", TEAM)
            self.cluster.wait(lambda: answer()[0] == 503, 60, "the token to be refused")
            self.assertIn("start `slackline page` again", answer()[1])
            page.terminate()

    def test_an_empty_replica_takes_what_models_have_learnt_with_its_own_token(self):
        teacher = self.token_of("assistant", "slackline-teach")
        sample = {"gpuType": "K80", "batch": 64, "placement": "1x2", "throughputSamplesPerS": 100.5}
        of_run = {**sample, "batch": 128, "origin": "run", "source": "Job a/b", "run": "uid-1"}
        taught = json.dumps({"samples": [sample, of_run]})
        self.cluster.wait(lambda: self.send("POST", teacher, taught, "/samples")[0] == 200, 20, "the right to teach")
        self.assertEqual(self.send("PUT", teacher, json.dumps({"family": "nets"}))[0], 200)
        known = json.loads(self.send("GET", teacher, path="/samples")[1])["items"]
        self.assertEqual(len(known), 2)

        token = self.cluster.directory / "copy.token"
        token.write_text(self.cluster.service_account_token("slackline-system", "slackline") + "\n")
        copy = f"{{url: 'https://localhost:{self.daemon.api_port}', tokenFile: {token}, caFile: {self.cluster.pki.crt('ca')}}}"
        replica = Daemon(self.account, self.cluster.directory / "b", settings=f"store: {{copyFrom: {copy}}}\n")
        self.addCleanup(replica.kill)
        replica.start()
        log = replica.config.parent / "slackline.log"
        self.cluster.wait(lambda: "copied what=models" in log.read_text(), 20, "the models to be copied")
        self.assertEqual(json.loads(replica.get("/v1/models/newnet/samples")[1])["items"], known)
        self.assertEqual(json.loads(replica.get("/v1/models/newnet")[1])["family"], "nets")
        self.assertIn("Job a/b", slackline("models", "newnet", "--samples", "--server", replica.api_url))

    def test_to_delete_what_was_learnt_is_a_right_of_its_own(self):
        reader = self.token_of("reader", "slackline-view")
        teacher = self.token_of("teacher", "slackline-teach")
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
