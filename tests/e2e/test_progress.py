"""Training Jobs tell how far they are, with tokens of their pods, and go on there after a stop."""

import contextlib
import functools
import http.client
import json
import os
import re
import ssl
import subprocess
import sys
import time
import unittest

from support.controlplane import ROOT, ControlPlane
from support.installation import SYSTEM, PodInstallation, apply_base
from support.objects import MANAGED, TEAM, gpu_job, name_of, node_of

OTHERS = "others"
GPUS_PER_NODE = 4
PROTECT_S = 5
POLICY = f"default,protect={PROTECT_S},headroom=0,calm=0"


def install(cluster):
    """deploy/base with a policy whose times are short."""
    cluster.add_gpu_nodes(2, GPUS_PER_NODE, "K80")
    apply_base(cluster)
    text = cluster.get("configmap", SYSTEM, "slackline")["data"]["slackline.yaml"]
    assert text.count("\nplanner:\n") == 1
    text = text.replace("\nplanner:\n", f'\nplanner:\n  policy: "{POLICY}"\n')
    cluster.kubectl("patch", "configmap", "slackline", "-n", SYSTEM, "--type=merge", "-p",
                    json.dumps({"data": {"slackline.yaml": text}}))  # fmt: skip
    cluster.add_namespace(TEAM, MANAGED)
    cluster.add_namespace(OTHERS, MANAGED)
    installed = PodInstallation(cluster)
    installed.run()
    installed.wait_active(TEAM)
    return installed


def training(name, duration, **annotations):
    job = gpu_job(name, gpus=GPUS_PER_NODE, annotations={key.replace("_", "-"): v for key, v in annotations.items()})
    job["spec"]["template"]["metadata"].setdefault("annotations", {})["sim.slackline.dev/duration"] = duration
    return job


class ProgressTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ControlPlane()
        cls.addClassCleanup(cls.cluster.close)
        cls.daemon = install(cls.cluster).daemon

    def setUp(self):
        self.addCleanup(lambda: [self.cluster.delete_all(kind, TEAM) for kind in ("job", "pod")])

    def test_a_job_goes_on_where_it_said_it_was(self):
        names = ["train-0", "train-1"]
        self.cluster.apply([training(name, "20s", expected_duration="10m") for name in names])
        self.cluster.wait(lambda: len(self._bound("train")) == 2, 30, "the cluster to be full")
        (pod, _) = self._bound("train")
        first = self._variables(pod)
        self.assertEqual(first["SLACKLINE_ITERATION"], "0")
        self.assertEqual(first["SLACKLINE_ATTEMPT"], "0")
        self.assertEqual(first["SLACKLINE_URL"], "https://slackline-api.slackline-system.svc")
        token = self._token(TEAM)
        self.cluster.wait_older(PROTECT_S, TEAM)
        for name in names:
            status, said, _ = self._tell(name, token, iteration=300, total=1000, loss=0.5, phase="warmup")
            self.assertEqual(status, 200, said)
            self.assertEqual(json.loads(said)["iteration"], 300)
        self.cluster.wait(lambda: self._note("train-0", "progress").startswith("300/1000 at "), 10, "the annotation")
        self.assertTrue(self._note("train-0", "progress").endswith(", loss 0.5, phase warmup"))
        row = next(row for row in self._queue() if row["name"] == "train-0")
        self.assertEqual(row["progress"], 0.3)
        self.assertEqual(row["reported"]["total"], 1000)

        self.cluster.apply([training("soon", "2s", expected_duration="20s", deadline_after="60s")])
        self.cluster.wait(lambda: self._stopped(), 20, "somebody to make room")
        (stopped,) = self._stopped()
        status, said, _ = self._tell(stopped, token, iteration=310, total=1000)
        self.assertEqual(status, 200, f"what it did until its pods ended: {said}")
        self.cluster.wait(lambda: self._note(stopped, "progress").startswith("310/1000 at "), 10, "the last report")
        self.assertLess(json.loads(self._note(stopped, "preemptions"))["left"], 1, "what it reported is kept")
        self.cluster.wait(lambda: self._bound(stopped), 60, "it to come back")
        (pod,) = self._bound(stopped)
        again = self._variables(pod)
        self.assertEqual(again["SLACKLINE_ITERATION"], "310")
        self.assertEqual(again["SLACKLINE_ATTEMPT"], "1")

    def test_only_workloads_of_the_namespace_may_tell(self):
        self.cluster.apply([training("mine", "1h", expected_duration="1h")])
        self.cluster.wait(lambda: self._bound("mine"), 30, "it to run")
        report = {"iteration": 1, "total": 10}
        status, said, _ = self._tell("mine", self._token(OTHERS), **report)
        self.assertEqual(status, 403)
        self.assertIn("is not a ServiceAccount of the namespace", json.loads(said)["message"])
        ours = self._token(TEAM)
        for token in ("", "a.b.c", ours[:-4] + "AAAA"):
            self.assertEqual(self._tell("mine", token, **report)[0], 401)
        self.assertEqual(self._tell("other", ours, **report)[0], 404)
        status, said, _ = self._tell("mine", ours, iteration=11, total=10)
        self.assertEqual(status, 400)
        self.assertIn("iteration: must be a whole number from 0 to total, 10", said)
        for_the_api_server = self.cluster.service_account_token(TEAM, "default")
        self.assertEqual(self._tell("mine", for_the_api_server, **report)[0], 200)
        elsewhere = self._token(TEAM, audience="vault")
        self.assertEqual(self._tell("mine", elsewhere, **report)[0], 401)

    def test_who_tells_too_often_is_told_when_to_come_again(self):
        self.cluster.apply([training("eager", "1h", expected_duration="1h")])
        self.cluster.wait(lambda: self._bound("eager"), 30, "it to run")
        token = self._token(TEAM)
        answers = [self._tell("eager", token, iteration=i, total=100) for i in range(12)]
        statuses = [status for status, _, _ in answers]
        self.assertEqual(statuses[:6], [200] * 6)
        self.assertIn(429, statuses)
        self.assertTrue(all(wait == "5" for status, _, wait in answers if status == 429))
        time.sleep(6)  # it was told to wait for 5
        self.assertEqual(self._tell("eager", token, iteration=50, total=100)[0], 200)

    def test_the_snippets_of_the_docs_report_and_never_end_a_training(self):
        self.cluster.apply([training("taught", "1h", expected_duration="1h")])
        self.cluster.wait(lambda: self._bound("taught"), 30, "it to run")
        (pod,) = self._bound("taught")
        token = self.cluster.directory / "token"
        token.write_text(self._token(TEAM))
        said = {
            "NAMESPACE": TEAM,
            "JOB": "taught",
            "SLACKLINE_URL": f"https://localhost:{self.daemon.remote_port}",
            "SLACKLINE_CA_PEM": self._variables(pod)["SLACKLINE_CA_PEM"],
        }
        text = (ROOT / "docs/PROGRESS.md").read_text().replace("/var/run/secrets/slackline/token", str(token))
        for number, (language, program) in enumerate((("sh", "sh"), ("python", sys.executable)), start=1):
            (snippet,) = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
            self.assertLessEqual(len(snippet.splitlines()), 21)
            run = functools.partial(
                subprocess.run, [program, "-c", snippet], text=True, capture_output=True, check=True
            )
            done = run(env={**os.environ, **said, "SLACKLINE_ITERATION": str(number)})
            self.assertEqual(json.loads(done.stdout)["iteration"], number, done.stderr)
            away = {**said, "SLACKLINE_URL": "https://localhost:1"}
            run(env={**os.environ, **away})
            run(env={key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ})

    # ---- words ----------------------------------------------------------------------------------

    def _token(self, namespace, audience="slackline"):
        return self.cluster.kubectl(
            "create", "token", "default", f"--namespace={namespace}", f"--audience={audience}"
        ).strip()

    def _tell(self, job, token, **report):
        """Status, text and Retry-After. It trusts what the pods of the cluster are told to trust."""
        authority = self.cluster.get("configmap", SYSTEM, "slackline-api-ca")["data"]["ca.crt"]
        trusting = ssl.create_default_context(cadata=authority)
        link = http.client.HTTPSConnection("localhost", self.daemon.remote_port, timeout=10, context=trusting)
        with contextlib.closing(link):
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            link.request("POST", f"/v1/tasks/{TEAM}/{job}/progress", json.dumps(report), headers)
            answer = link.getresponse()
            return answer.status, answer.read().decode(), answer.getheader("Retry-After")

    def _bound(self, prefix):
        pods = self.cluster.list("pod", TEAM)
        live = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
        return [pod for pod in live if node_of(pod) and name_of(pod).startswith(prefix)]

    def _variables(self, pod):
        (container,) = pod["spec"]["containers"]
        variables = {each["name"]: each.get("value") for each in container["env"]}
        authority = self.cluster.get("configmap", SYSTEM, "slackline-api-ca")["data"]["ca.crt"]
        self.assertEqual(variables["SLACKLINE_CA_PEM"], authority)
        return variables

    def _note(self, job, key):
        notes = self.cluster.get("job", TEAM, job)["metadata"]["annotations"]
        return notes.get(f"slackline.dev/{key}", "")

    def _stopped(self):
        return [name_of(job) for job in self.cluster.list("job", TEAM)
                if "slackline.dev/preemptions" in job["metadata"]["annotations"]]  # fmt: skip

    def _queue(self):
        return json.loads(self.daemon.get("/v1/queue")[1])["items"]


if __name__ == "__main__":
    unittest.main()
