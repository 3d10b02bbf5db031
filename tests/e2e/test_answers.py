"""What people ask of the queue's future, on a real control plane: why, eta, quote, whatif, calendar. What was said comes
true, a quote writes nothing, and each verb keeps from people what they may not view."""

import json
import os
import subprocess
import tempfile
import unittest

from support.active_case import ActiveCase
from support.controlplane import DAEMON_USER, ROOT
from support.daemon import Daemon, slackline_binary
from support.objects import TEAM, gpu_job, gpu_pod, waiting_job
from support.process import settled

HOUR = {"slackline.dev/expected-duration": "1h"}
HIDDEN = "hush-hush"


def manifest(name, gpus, namespace="default", **annotations):
    job = gpu_job(name, gpus=gpus, namespace=namespace)
    job["metadata"].setdefault("annotations", {}).update(
        {f"slackline.dev/{key.replace('_', '-')}": value for key, value in annotations.items()}
    )
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
        json.dump(job, file)
        return file.name


class AnswersTest(ActiveCase):
    @classmethod
    def setUpClass(cls):
        cls.make_cluster(nodes=2)
        cls.start_planning(cls.account)

    def ask(self, *question):
        """Exit code and output."""
        done = subprocess.run(
            [slackline_binary(), *map(str, question), "-s", self.daemon.api_url],
            text=True, capture_output=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    def ask_json(self, *question):
        code, text = self.ask(*question, "-o", "json")
        try:
            return code, json.loads(text)
        except json.JSONDecodeError:
            self.fail(f"{question}: {text}")

    def fill(self):
        """Both nodes run a Job of an hour."""
        self.cluster.apply([waiting_job(f"runs-{i}", gpus=4, annotations=HOUR) for i in range(2)])
        self.cluster.wait(lambda: self.bound("runs") == 2, 30, "both nodes to be full")

    def wait_standing(self, name, code):
        self.cluster.wait(lambda: self.ask("eta", name)[0] == code, 20, f"{name} to stand at {code}")

    def test_why_names_the_blockers_and_a_change_that_does_what_was_said(self):
        self.fill()
        self.cluster.apply([waiting_job("waits", gpus=4, deadline_after="90m", annotations=HOUR)])
        self.wait_standing("waits", 1)
        code, why = self.ask_json("why", "waits", "--node", "node-0")
        self.assertEqual(code, 1)
        (blocker,) = why["blockers"]
        self.assertEqual((blocker["reason"], blocker["need"], blocker["have"], blocker["short"]),
                         ("WaitsItsTurn", 4, 0, 4))  # fmt: skip
        self.assertIn(blocker["freedBy"][0]["task"], ("default/runs-0", "default/runs-1"))
        self.assertLess(blocker["ends"]["p50"], blocker["ends"]["p90"])
        self.assertEqual([(group["constraint"], group["nodes"]) for group in why["nodes"]], [("Full", 2)])
        self.assertEqual(why["nodeConstraint"]["constraint"], "Full")
        changes = {change["kind"]: change for change in why["changes"]}
        self.assertIn("GiveWay", changes)
        text = self.ask("why", "default/waits")[1]
        self.assertIn("of 2 nodes: 2 too full until", text)
        self.assertIn("needs 4, has 0, 4 short", text)

        # What was said is done, and happens.
        self.assertTrue(changes["GiveWay"]["task"].startswith("default/runs-"))
        self.cluster.kubectl("delete", "job", changes["GiveWay"]["task"].split("/")[1])
        self.cluster.wait(lambda: self.bound("waits") == 1, 30, "the place to be taken")
        self.wait_standing("waits", 0)

    def test_eta_tells_times_and_chance(self):
        self.fill()
        self.cluster.apply([waiting_job("waits", gpus=4, deadline_after="3h", annotations=HOUR)])
        self.wait_standing("waits", 1)
        _, eta = self.ask_json("eta", "waits")
        self.assertEqual(eta["standing"], "waits")
        self.assertLessEqual(eta["start"]["p50"], eta["start"]["p90"])
        self.assertLess(eta["start"]["p50"], eta["finish"]["p50"])
        self.assertGreater(eta["chance"], 0.5)
        self.assertIn("chance to meet it", self.ask("eta", "waits")[1])
        self.assertEqual(self.ask("eta", "nobody")[0], 3)
        self.assertEqual(self.ask("eta")[0], 2)

    def test_a_quote_says_what_then_happens_and_writes_nothing(self):
        self.fill()
        file = manifest("later", 4, expected_duration="1h", deadline_after="4h")
        self.addCleanup(os.remove, file)
        self.cluster.wait(lambda: self.ask("quote", "-f", file)[0] == 0, 20, "a quote in time")
        before = settled(self._written, 1, "the hand-over of the running Jobs to write no more")
        jobs = self.cluster.list("job", "default")
        for _ in range(5):
            code, quote = self.ask_json("quote", "-f", file)
        text = self.ask("quote", "-f", file)[1]
        self.assertEqual(code, 0)
        self.assertIn("as written", text)
        written = quote["items"][0]
        self.assertTrue(written["written"])
        self.assertEqual(written["gpuHours"], 4)
        self.assertEqual(written["delayed"], 0)
        self.assertLess(written["start"]["p50"], written["finish"]["p50"])
        self.assertEqual(written["gpuType"], "K80")
        self.assertEqual(quote["items"][1:], [], "the one placement that there is, once")
        self.assertNotIn("latestSubmit", written, "its deadline moves with its submission")
        (row,) = self.ask_json("quote", "-f", file, "--deadline", "4h")[1]["items"]
        self.assertGreater(row["latestSubmit"], row["start"]["p50"])
        code, quote = self.ask_json("quote", "-f", file, "--deadline", "70m")
        self.assertEqual(code, 1, "the running Jobs need most of it")
        code, said = self.ask("quote", "-f", file, "--deadline", "nonsense")
        self.assertEqual(code, 2)
        self.assertIn("expected a duration such as 24h", said)
        self.assertEqual(self._written(), before)
        self.assertEqual(self.cluster.list("job", "default"), jobs)
        self.assertEqual(self.daemon.get("/v1/tasks/default/later")[0], 404)

    def test_a_quote_of_several_objects_is_one_answer(self):
        jobs = [gpu_job(name, gpus=1) for name in ("one", "two")]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"apiVersion": "v1", "kind": "List", "items": jobs}, file)
            file.flush()
            answer = self.ask_json("quote", "-f", file.name)[1]
            self.assertEqual((answer["kind"], len(answer["items"])), ("List", 2))
            self.assertTrue(all("items" in quote for quote in answer["items"]))
            yaml = self.ask("quote", "-f", file.name, "-o", "yaml")[1]
            self.assertEqual(yaml.splitlines().count("---"), 1)
            lines = self.ask("quote", "-f", file.name, "-o", "csv")[1].splitlines()
            self.assertEqual(lines.count(lines[0]), 1, "one heading")
            self.assertNotIn("", lines)

    def _written(self):
        """All that the daemon wrote but its Lease, as the API server recorded it."""
        return [
            event
            for event in self.cluster.audit()
            if event["user"]["username"] == DAEMON_USER
            and event["verb"] not in ("get", "list", "watch")
            and event["objectRef"]["resource"] != "leases"
        ]

    def test_why_tells_what_kube_scheduler_refused_by_rules_that_no_plan_knows(self):
        noisy = [gpu_pod(f"noisy-{node}", gpus=0) for node in range(2)]
        for node, pod in enumerate(noisy):
            del pod["spec"]["containers"][0]["resources"]
            pod["metadata"]["labels"] = {"app": "noisy"}
            pod["spec"]["nodeName"] = f"node-{node}"
        self.cluster.apply(noisy)
        job = waiting_job("quiet", gpus=4, annotations=HOUR)
        term = {"labelSelector": {"matchLabels": {"app": "noisy"}}, "topologyKey": "kubernetes.io/hostname"}
        affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        job["spec"]["template"]["spec"]["affinity"] = affinity
        self.cluster.apply([job])
        self.cluster.wait(lambda: self.ask("eta", "quiet")[0] != 3, 20, "it to be in the queue")

        def refused():
            _, why = self.ask_json("why", "quiet", "--node", "node-0")
            found = [each for each in why.get("blockers", []) if each["reason"] == "NotBound"]
            return found and "node-0 (again" in found[0].get("detail", "") and why

        why = self.cluster.wait(refused, 120, "node-0 to be refused")
        self.assertIn("anti-affinity", why["blockers"][0]["detail"])
        self.assertNotIn("preemption", why["blockers"][0]["detail"])
        self.assertEqual(why["nodeConstraint"]["constraint"], "RefusedByScheduler")
        self.assertIn("anti-affinity", why["nodeConstraint"]["detail"])
        self.assertIn("node node-0: refused by kube-scheduler until ", self.ask("why", "quiet", "--node", "node-0")[1])

    def test_the_shell_client_asks_the_same(self):
        self.fill()
        self.cluster.apply([waiting_job("waits", gpus=4, annotations=HOUR)])
        self.wait_standing("waits", 1)
        file = manifest("later", 4, expected_duration="1h")
        self.addCleanup(os.remove, file)

        def ask(*question, server=self.daemon.api_url):
            done = subprocess.run(
                ["sh", ROOT / "deploy/client/slackline.sh", *question], text=True, capture_output=True, check=False,
                env={**os.environ, "SLACKLINE_SERVER": server},
            )  # fmt: skip
            return done.returncode, done.stdout + done.stderr

        self.assertEqual(ask("eta", "waits")[0], 1)
        self.assertEqual(ask("eta", "default/runs-0")[0], 0)
        self.assertIn("it waits for", ask("why", "waits", "--node", "node-0")[1])
        self.assertIn("default/waits", ask("queue", "-n", "default")[1])
        self.assertIn("as written", ask("quote", "-f", file, "--deadline", "9h")[1])
        code, said = ask("eta", "nobody")
        self.assertEqual(code, 3)
        self.assertIn("default/nobody is not in the queue: there is no Job or pod of that name", said)
        self.assertEqual(ask("nonsense")[0], 2)
        self.assertEqual(ask("eta", "waits", server="http://127.0.0.1:1")[0], 3)

    def test_what_its_time_limit_will_end_is_cut_short(self):
        job = waiting_job("limited", gpus=1, annotations=HOUR)
        job["spec"]["activeDeadlineSeconds"] = 600
        self.cluster.apply([job])
        self.cluster.wait(lambda: self.bound("limited") == 1, 30, "it to run")
        self.wait_standing("limited", 1)
        self.assertIn("cut short", self.ask("eta", "limited")[1])
        self.assertIn("its run takes 1h00m: it fails", self.ask("why", "limited")[1])
        code, text = self.ask("queue", "limited")
        self.assertEqual(code, 1, text)
        self.assertIn("CUT SHORT", text)

    def test_what_if_and_calendar(self):
        self.fill()
        self.cluster.apply([waiting_job("waits", gpus=4, annotations=HOUR)])
        self.wait_standing("waits", 1)
        _, added = self.ask_json("whatif", "--add", "1xK80x4")
        self.assertEqual((added["gains"], added["loses"]), (1, 0), added)
        self.assertEqual(added["items"][0]["task"], "default/waits")
        self.assertLess(added["items"][0]["changeSeconds"], -1000)
        _, drained = self.ask_json("whatif", "--drain", "node-0")
        self.assertGreaterEqual(drained["loses"], 1)
        code, text = self.ask("whatif", "--policy", "fifo")
        self.assertEqual(code, 0, text)
        self.assertEqual(self.ask("whatif", "--drain", "node-0", "--policy", "fifo")[0], 2)
        self.assertEqual(self.ask("whatif", "--drain", "nowhere")[0], 3)

        _, calendar = self.ask_json("calendar", "--days", "1")
        first, last = calendar["items"][0], calendar["items"][-1]
        self.assertEqual((first["gpuType"], first["gpus"], first["freeP50"]), ("K80", 8, 0))
        self.assertEqual(last["freeP50"], 8, "tasks like these come again, in fewer than half of the futures just then")
        code, ics = self.ask("calendar", "-o", "ics")
        self.assertEqual(code, 0)
        self.assertTrue(ics.startswith("BEGIN:VCALENDAR\r\n") or ics.startswith("BEGIN:VCALENDAR\n"), ics[:40])
        self.assertIn("GPUs of type K80 free", ics)
        self.assertEqual(self.ask("calendar", "--type", "H100")[0], 3)


class AnswerRightsTest(unittest.TestCase):
    """Per verb: people of one namespace learn counts and times of others, and no names."""

    @classmethod
    def setUpClass(cls):
        case = ActiveCase
        case.make_cluster.__func__(cls, nodes=2)
        cluster = cls.cluster
        cluster.kubectl("apply", "-f", ROOT / "deploy/webhook/rbac.yaml")
        cluster.kubectl("apply", "--validate=strict", "-k", ROOT / "deploy/api")
        for namespace in (TEAM, HIDDEN):
            cluster.kubectl("create", "namespace", namespace)
            cluster.look_after(namespace)
            cluster.kubectl("create", "serviceaccount", "jane", "-n", namespace)
        cluster.kubectl("create", "rolebinding", "jane", "-n", TEAM, "--clusterrole=view",
                        f"--serviceaccount={TEAM}:jane")  # fmt: skip
        pki = cluster.pki
        tls = f"{{certFile: {pki.crt('extender')}, keyFile: {pki.key('extender')}}}"
        cls.daemon = Daemon(cls.account, cluster.directory / "a", "active",
                            settings=f"listeners: {{api: {{tls: {tls}}}}}\n")  # fmt: skip
        argv = cls.daemon.process.argv
        argv[argv.index("--listen-api") + 1] = f"0.0.0.0:{cls.daemon.api_port}"
        cls.addClassCleanup(cls.daemon.kill)
        cls.daemon.start()
        cls.jane = cluster.service_account_token(TEAM, "jane")
        jobs = [waiting_job(f"secret-{i}", namespace=HIDDEN, gpus=4, annotations=HOUR) for i in range(3)]
        mine = [waiting_job(f"mine-{i}", namespace=TEAM, gpus=4, annotations=HOUR) for i in range(2)]
        cluster.apply(jobs + mine)

    def ask(self, *question):
        done = subprocess.run(
            [slackline_binary(), *question, "--server", f"https://localhost:{self.daemon.api_port}",
             "--ca-file", self.cluster.pki.crt("ca"), "-o", "json"],
            text=True, capture_output=True, check=False, env={**os.environ, "SLACKLINE_TOKEN": self.jane},
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    def test_nobody_learns_the_names_of_others(self):
        # The controller manager adds Slackline's role to `view` after a while.
        self.cluster.wait(lambda: self.ask("eta", f"{TEAM}/mine-0")[0] in (0, 1, 4), 20, "the right to be seen")
        file, foreign = (manifest("new", 4, namespace=ns, expected_duration="1h") for ns in (TEAM, HIDDEN))
        self.addCleanup(os.remove, file)
        self.addCleanup(os.remove, foreign)
        questions = {
            "why": ["why", f"{TEAM}/mine-1"],
            "eta": ["eta", f"{TEAM}/mine-1"],
            "quote": ["quote", "-f", file],
            "whatif": ["whatif", "--add", "4xTesla-K80x4", "-n", TEAM],
            "calendar": ["calendar", "-n", TEAM],
        }
        for verb, question in questions.items():
            with self.subTest(verb=verb):
                code, said = self.ask(*question)
                self.assertIn(code, (0, 1, 4), said)
                self.assertNotIn("secret-", said)
                self.assertNotIn(HIDDEN, said)
        for verb, question in {
            "why": ["why", f"{HIDDEN}/secret-0"],
            "eta": ["eta", f"{HIDDEN}/secret-0"],
            "quote": ["quote", "-f", foreign],
            "whatif": ["whatif", "--drain", "node-0"],
            "calendar": ["calendar"],
        }.items():
            with self.subTest(refused=verb):
                code, said = self.ask(*question)
                self.assertEqual(code, 3, said)
                self.assertIn("may not", said)


if __name__ == "__main__":
    unittest.main()
