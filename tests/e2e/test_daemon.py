"""The daemon on a cluster dump: REST, metrics under a real Prometheus, TLS, the command line."""

import contextlib
import datetime
import http.client
import http.server
import json
import os
import pathlib
import pty
import shutil
import sqlite3
import ssl
import subprocess
import tempfile
import termios
import threading
import unittest
import urllib.parse

from support.daemon import ROOT, Daemon, slackline, slackline_binary
from support.objects import waiting_job
from support.pki import Pki
from support.process import Process, free_ports, settled, wait

DUMP = ROOT / "manifests/clusters/demo.yaml"


def pod(name, gpus=1, annotations=None):
    return {
        "metadata": {"name": name, "namespace": "t", "uid": f"u-{name}", "annotations": annotations or {}},
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}]},
        "status": {"phase": "Pending"},
    }


def arguments(nodes, **of_pod):
    return json.dumps({"Pod": pod(**of_pod), "Nodes": None, "NodeNames": nodes})


def kubeconfig_of(server):
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "users": [{"name": "u", "user": {}}],
        }
    )


class ApiServer:
    """Forbids everything, and remembers what it was asked for."""

    def __enter__(self):
        self.paths = paths = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                paths.append(self.path)
                self.send_error(403)

            def log_message(self, *_):
                pass

        self._server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


class DumpTest(unittest.TestCase):
    """One daemon for all read-only questions."""

    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp())
        cls.daemon = Daemon(None, cls.directory, flags=["--cluster", f"file:{DUMP}"]).start()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.kill()
        shutil.rmtree(cls.directory)

    def get_json(self, path):
        status, text = self.daemon.get(path)
        self.assertEqual(status, 200, text)
        return json.loads(text)

    def test_every_path_of_the_openapi_document_answers(self):
        document = self.get_json("/openapi.json")
        names = {"ns": "team-vision", "name": "resnet-nightly", "model": "resnet50", "family": "unheard-of"}
        node = self.get_json("/v1/nodes?limit=1")["items"][0]["name"]
        asked = {"/v1/scores": "?pod=team-vision/resnet-nightly", "/v1/whatif": f"?drain={node}"}
        absent = {  # the dump has none
            "/v1/portraits/{family}", "/v1/models/{model}/calibration", "/v1/tasks/{ns}/{name}/advice",
        }  # fmt: skip
        for path, operations in document["paths"].items():
            if "get" not in operations or path == "/v1/events":  # which never ends
                continue
            status = 404 if path in absent else 200
            path = path.format(**names) + asked.get(path, "")
            with self.subTest(path=path):
                self.assertEqual(self.daemon.get(path)[0], status)
                self.assertEqual(self.daemon.get(path, accept="text/plain")[0], status)

    def test_lists_come_in_pages(self):
        first = self.get_json("/v1/nodes?limit=3")
        self.assertEqual(len(first["items"]), 3)
        rest = self.get_json(f"/v1/nodes?limit=500&continue={first['metadata']['continue']}")
        self.assertEqual(rest["metadata"]["continue"], "")
        names = [each["name"] for each in first["items"] + rest["items"]]
        self.assertEqual(names, sorted(set(names)))
        self.assertEqual(len(names), 10)
        whole = self.get_json("/v1/nodes?continue=")
        self.assertEqual([each["name"] for each in whole["items"]], names)
        self.assertEqual(self.daemon.get("/v1/decisions?continue=")[0], 200)

    def test_the_command_line_says_what_is_wrong_with_a_call(self):
        port = self.daemon.metrics_port
        for words, status, said in [
            (["nodes", "--limit", "0"], 2, "between 1 and"),
            (["queue", "--limit", "-1"], 2, "between 1 and"),
            (["nodes", "-s", f"http://127.0.0.1:{port}"], 3, "listener of metrics and health; REST is served by"),
            (["nodes", "-s", f"http://127.0.0.1:{self.daemon.extender_port}"], 3, "this is the extender's listener"),
            (["nodes", "-s", f"https://127.0.0.1:{port}"], 3, "this port speaks plain HTTP"),
            (["nodes", "-s", "ftp://127.0.0.1"], 2, "neither http nor https"),
        ]:
            with self.subTest(words):
                done = subprocess.run([slackline_binary(), *words], text=True, capture_output=True, check=False)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(said, done.stdout + done.stderr)

    def test_a_hold_is_seen_and_kept(self):
        nodes = {each["name"]: each for each in self.get_json("/v1/nodes")["items"]}
        self.assertEqual(nodes["t4-2"]["gpus"][0]["held"], 2)
        status, text = self.daemon.post("/v1/extender/filter", arguments(["t4-1", "t4-2"], name="a", gpus=2))
        answer = json.loads(text)
        self.assertEqual((status, answer["NodeNames"], answer["Error"]), (200, ["t4-1"], ""))
        self.assertIn("held", answer["FailedNodes"]["t4-2"])

    def test_it_says_once_that_a_dump_is_taken_on_trust(self):
        detail = self.get_json("/v1/cluster")["cache"]["detail"]
        self.assertEqual(detail, "a dump: its plans and rights are accepted without checks")
        table = self.daemon.get("/v1/cluster", accept="text/plain")[1]
        self.assertEqual(table.count("accepted without checks"), 1, table)

    def test_scores_follow_the_preference_before_the_model(self):
        scores = self.get_json("/v1/scores?pod=team-vision/resnet-any-type")["items"]
        types = [each["gpuType"] for each in scores if each["passes"]]
        self.assertEqual(types, ["T4", "T4", "T4", "A100", "A100"])
        self.assertEqual(scores[-1]["verdict"], "GpuTypeNotAccepted")

    def test_a_manifest_is_judged_as_kube_scheduler_would_be_answered(self):
        nodes = {each["name"]: each["ready"] for each in self.get_json("/v1/nodes")["items"]}
        self.assertIn(False, nodes.values(), "kube-scheduler does not ask about a node that is not ready")
        names = [name for name, ready in nodes.items() if ready]
        args = json.loads(arguments(names, name="tried", gpus=2))
        tried = {"kind": "Pod", **args["Pod"]}
        path = "/v1/scores?namespace=" + tried["metadata"]["namespace"]
        judged = json.loads(self.daemon.post(path, json.dumps(tried), port=self.daemon.api_port)[1])["items"]
        answer = json.loads(self.daemon.post("/v1/extender/filter", arguments(names, name="tried", gpus=2))[1])
        passed = answer["NodeNames"]
        self.assertEqual({each["node"] for each in judged if each["passes"]}, set(passed))
        self.assertNotEqual(set(passed), set(names), "a node that fails is part of the case")
        scores = json.loads(self.daemon.post("/v1/extender/prioritize", arguments(passed, name="tried", gpus=2))[1])
        self.assertEqual({each["node"]: each["score"] for each in judged if each["score"] > 0},
                         {each["Host"]: each["Score"] for each in scores})  # fmt: skip
        status, text = self.daemon.post("/v1/scores?namespace=elsewhere", json.dumps(tried), port=self.daemon.api_port)
        self.assertEqual(status, 400, text)

    def test_a_pod_without_a_model_is_scored_and_says_so(self):
        scores = self.get_json("/v1/scores?pod=team-speech/mystery")
        self.assertIn("names no model", scores["note"])
        self.assertTrue(any(each["score"] > 0 for each in scores["items"]))

    def test_decisions_are_journalled(self):
        self.daemon.post("/v1/extender/prioritize", arguments(["t4-1", "a100-1"], name="remembered"))

        def written():
            return self.get_json("/v1/decisions?pod=t/remembered&verb=prioritize")["items"]

        row = wait(written, 5, "the decision to be written")[0]
        self.assertEqual(row["nodesAsked"], 2)
        self.assertEqual({each["node"] for each in row["candidates"]}, {"t4-1", "a100-1"})

    def test_bad_questions_get_clear_errors(self):  # F42
        for path, status, words in [
            ("/v1/scores", 400, "name the pod"),
            ("/v1/scores?pod=x", 400, "NAMESPACE/NAME"),
            ("/v1/scores?pod=no/body", 404, "no/body"),
            ("/v1/nodes?limit=0", 400, "1 to 1000"),
            ("/v1/nodes?continue=500", 400, "metadata.continue"),
            ("/v1/nodes?continue=0123456789abcdef.500", 410, "ask again without continue"),
            ("/v1/decisions?continue=x", 400, "expected a number"),
            ("/v1/decisions?verb=guess", 400, "prioritize"),
            ("/v1/tasks/team-nlp/nobody", 404, "nobody"),
            ("/v1/nothing", 404, '"NotFound"'),
            ("/v1/nodes?limt=3", 400, 'unknown parameter \\"limt\\"; /v1/nodes takes output, limit, continue'),
            ("/v1/../etc/passwd", (400, 404), ""),
            ("/v1/tasks/a%00b/c", (400, 404), ""),
            ("/v1/nodes?" + "x" * 20000, (400, 414, 431), ""),
        ]:
            with self.subTest(path=path[:60]):
                got, text = self.daemon.get(path)
                self.assertIn(got, status if isinstance(status, tuple) else (status,))
                if got in (400, 404):
                    self.assertEqual(json.loads(text)["kind"], "Status")
                self.assertIn(words, text)

    def test_bad_bodies_get_a_reason(self):  # F01, F02
        status, text = self.daemon.post("/v1/extender/filter", '{"Pod": {')
        self.assertEqual((status, json.loads(text)["reason"]), (400, "BadRequest"))
        status, text = self.daemon.post("/v1/extender/filter", '{"Pod": null, "NodeNames": ["a"]}')
        self.assertEqual(status, 200)
        self.assertIn("Pod", json.loads(text)["Error"])

    def test_bind_on_a_dump_is_refused(self):
        body = json.dumps({"PodName": "p", "PodNamespace": "t", "PodUID": "u", "Node": "t4-1"})
        status, text = self.daemon.post("/v1/extender/bind", body)
        self.assertEqual(status, 200)
        self.assertIn("cannot bind", json.loads(text)["Error"])

    def test_metrics_are_clean_and_bounded(self):  # F40
        before = len(self.daemon.metrics())
        for number in range(300):
            self.daemon.post("/v1/extender/filter", arguments([f"n{number}"], name=f"pod-{number}"))
            self.daemon.get(f"/v1/tasks/ns/{number}")
        self.assertLess(len(self.daemon.metrics()) - before, 20)
        _, text = self.daemon.get("/metrics", port=self.daemon.metrics_port, accept="text/plain")
        checked = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True)
        self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, "", ""))

    def test_a_real_prometheus_scrapes_it(self):
        port = free_ports(1)[0]
        config = self.directory / "prometheus.yml"
        config.write_text(
            "global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: slackline\n  static_configs:\n"
            f"  - targets: ['127.0.0.1:{self.daemon.metrics_port}']\n"
        )
        prometheus = Process(
            "prometheus",
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.directory / 'tsdb'}",
             f"--web.listen-address=127.0.0.1:{port}"],
            self.directory / "prometheus.log",
        )  # fmt: skip

        def value(expression):
            link = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            with contextlib.closing(link):
                link.request("GET", "/api/v1/query?query=" + urllib.parse.quote(expression))
                answer = link.getresponse()
                text = answer.read()
            found = json.loads(text)["data"]["result"] if answer.status == 200 else None
            return found[0]["value"][1] if found else None

        self.daemon.post("/v1/extender/filter", arguments(["t4-1"], name="seen"))
        prometheus.start()
        try:
            wait(lambda: value("up") == "1", 30, "Prometheus to scrape the daemon")
            self.assertEqual(value('slackline_cache_objects{resource="nodes"}'), "10")
            self.assertIsNotNone(value('slackline_extender_requests_total{verb="filter",result="ok"}'))
        finally:
            prometheus.kill()

    def test_the_command_line_asks_it(self):
        def run(*argv):
            done = subprocess.run([slackline_binary(), *argv], text=True, capture_output=True, timeout=20)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout

        server = ["--server", self.daemon.api_url]
        self.assertIn("a100-1", run("nodes", *server))
        self.assertIn("resnet-nightly", run("tasks", *server, "-n", "team-vision"))
        self.assertIn("T4", run("scores", "team-vision/resnet-any-type", *server))
        self.assertIn("1x4", run("placements", "team-vision/resnet-nightly", *server))
        before = self.newest_decision()
        tried = run("try", ROOT / "manifests/pods/resnet50.yaml", *server)
        self.assertRegex(
            tried, r"^team-vision/resnet50 starts now, is done .*, in time by .*, chance to be in time 100 %"
        )
        self.assertRegex(tried, r"2 +H100 +7-8 +yes +passes +h100-2, h100-1\n")
        tried = run("try", ROOT / "manifests/pods/resnet50.yaml", "--nodes", *server)
        self.assertRegex(tried, r"t4-2 +T4 +0 +yes +free GPUs are held")
        self.assertRegex(tried, r"a100-1 +A100 +6 +yes +passes")
        self.assertEqual(self.newest_decision(), before)
        self.assertRegex(run("version"), r"^slackline \d+\.\d+\.\d+\n$")

    def newest_decision(self):
        """Once the journal has written all that it was given: by the tests before, too."""
        return settled(lambda: self.get_json("/v1/decisions?limit=1")["items"], 1, "the journal to be written")

    def at_a_terminal(self, *argv, columns=200, **env):
        """What a person sees at a terminal so wide."""
        ours, its = pty.openpty()
        termios.tcsetwinsize(its, (40, columns))
        asking = subprocess.Popen([slackline_binary(), *argv, "--server", self.daemon.api_url], stdout=its,
                                  env={**os.environ, "TZ": "UTC-5:30", **env})  # fmt: skip
        os.close(its)
        text = b""
        with contextlib.suppress(OSError):  # the end of a terminal is an error
            while part := os.read(ours, 65536):
                text += part
        os.close(ours)
        self.assertEqual(asking.wait(20), 0)
        return text.decode().replace("\r\n", "\n")

    def test_a_terminal_gets_what_fits_it_in_its_own_time(self):
        deadlines = {each["deadline"] for each in self.get_json("/v1/tasks")["items"] if "deadline" in each}
        piped = subprocess.run([slackline_binary(), "tasks", "--server", self.daemon.api_url],
                               text=True, capture_output=True).stdout  # fmt: skip
        for deadline in deadlines:
            self.assertIn(deadline, piped)
        wide = self.at_a_terminal("tasks")
        for deadline in deadlines:
            self.assertNotIn(deadline, wide)
            there = datetime.datetime.fromisoformat(deadline) + datetime.timedelta(hours=5, minutes=30)
            self.assertIn(there.strftime("%H:%M"), wide)
        narrow = self.at_a_terminal("tasks", columns=70)
        self.assertLessEqual(max(map(len, narrow.splitlines()[:-1])), 70)
        self.assertRegex(narrow, r"not shown: .*CLASS.*; -o wide shows all\n$")
        self.assertEqual(self.at_a_terminal("tasks", "-n", "nope"), "nothing to show\n")

    def test_colours_are_for_those_who_want_them(self):
        self.assertIn("\x1b[", self.at_a_terminal("queue", TERM="xterm"))
        self.assertNotIn("\x1b[", self.at_a_terminal("queue", TERM="xterm", NO_COLOR="1"))
        self.assertNotIn("\x1b[", self.at_a_terminal("queue", TERM="dumb"))

    def test_one_task_can_be_asked_for(self):
        def run(*argv, expect=0):
            done = subprocess.run(
                [slackline_binary(), *argv, "--server", self.daemon.api_url], text=True, capture_output=True
            )
            self.assertEqual(done.returncode, expect, done.stderr)
            return done.stdout + done.stderr

        late = run("queue", "team-llm/sft-70b", "-o", "json", expect=1)
        self.assertEqual([row["name"] for row in json.loads(late)["items"]], ["sft-70b"])
        self.assertIn("resnet-nightly", run("tasks", "resnet-nightly", "-n", "team-vision"))
        self.assertIn("team-vision/nobody is not in the queue", run("queue", "team-vision/nobody", expect=3))
        self.assertIn("is not in the queue: the Job runs on ", run("queue", "team-llm/pretrain-7b", expect=3))
        self.assertIn("namespace=", self.daemon.get("/v1/queue?name=x")[1])

    def test_a_bundle_replays_to_the_same_queue(self):
        bundle = self.directory / "bundle.json"
        done = subprocess.run([slackline_binary(), "bundle", DUMP, "-o", bundle], text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("names, or parts of names, are replaced", done.stderr)
        text = bundle.read_text()
        for name in ("team-vision", "team-llm", "pretrain"):
            self.assertIn(name, DUMP.read_text())
            self.assertNotIn(name, text)
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        replay = Daemon(None, folder, flags=["--cluster", f"file:{bundle}"]).start()
        self.addCleanup(replay.kill)

        def told(daemon):
            rows = json.loads(daemon.get("/v1/queue")[1])["items"]
            keys = (
                "position",
                "state",
                "reason",
                "qosClass",
                "created",
                "deadline",
                "late",
                "blocked",
                "gpus",
                "shapes",
            )
            return [{key: row.get(key) for key in keys} for row in rows]

        self.assertEqual(told(replay), told(self.daemon))

    def test_the_exit_code_tells_whether_a_task_is_in_time(self):
        text = (ROOT / "manifests/pods/resnet50.yaml").read_text()

        def tried(*changes):
            changed = text
            for old, new in changes:
                self.assertIn(old, changed)
                changed = changed.replace(old, new)
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as manifest:
                manifest.write(changed)
                manifest.flush()
                return subprocess.run([slackline_binary(), "try", manifest.name, "--server", self.daemon.api_url],
                                      text=True, capture_output=True).returncode  # fmt: skip

        self.assertEqual(tried(), 0)
        self.assertEqual(tried(("qos-class: prior", "deadline-after: 1s")), 1)
        unheard = ("model: resnet50", "model: unheard-of")
        self.assertEqual(tried(unheard, ("qos-class: prior", "deadline-after: 6h")), 4)
        self.assertEqual(tried(("kind: Pod", "kind: Service")), 3)

        def piped_to(verb, text):
            return subprocess.run([slackline_binary(), verb, "-", "--server", self.daemon.api_url], input=text, text=True,
                                  capture_output=True)  # fmt: skip

        piped = piped_to("try", "kind: Service\nmetadata: {name: web}\n---\n" + text)
        self.assertEqual(piped.returncode, 0, piped.stderr)
        self.assertIn("left out, as they have no pods: Service web", piped.stderr)
        by_shell = ["bash", "-c", '"$0" try <(cat) --server "$1"', slackline_binary(), self.daemon.api_url]
        substituted = subprocess.run(by_shell, input=text, text=True, capture_output=True, timeout=60)
        self.assertEqual((substituted.returncode, substituted.stdout != ""), (0, True), substituted.stderr)
        job = waiting_job("past", annotations={"slackline.dev/deadline": "2001-01-01T00:00:00Z"})
        for verb in ("try", "quote"):
            refused = piped_to(verb, json.dumps(job))
            self.assertEqual(refused.returncode, 1, refused.stderr)
            self.assertRegex(
                refused.stdout, "would be refused: .*slackline.dev/deadline: 2001-01-01T00:00:00Z is in the past"
            )

    def test_queue_shows_on_demand_what_slackline_does_not_plan(self):
        for query, code in (("all=true", 200), ("all=false", 200), ("all=perhaps", 400)):
            status, body = self.daemon.get("/v1/queue?" + query)
            self.assertEqual(status, code, body)
        self.assertIn('all=\\"perhaps\\": expected true or false', body)

    def test_what_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "w") as full:
            for words in (["nodes", "--server", self.daemon.api_url], ["--help"], ["--version"]):
                done = subprocess.run([slackline_binary(), *words], stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 3, words)
                self.assertIn("could not be written", done.stderr)

    def test_what_is_no_list_is_not_printed_as_csv(self):
        for question in (["cluster"], ["tasks", "team/train"], ["ready"]):
            done = subprocess.run([slackline_binary(), *question, "-o", "csv", "--server", self.daemon.api_url],
                                  capture_output=True, text=True)  # fmt: skip
            self.assertEqual((done.returncode, done.stdout), (2, ""), question)
            self.assertIn("csv", done.stderr)

    def test_ready_is_plain_text_and_nothing_else(self):
        def ready(*more):
            done = subprocess.run([slackline_binary(), "ready", "--server", self.daemon.api_url, *more],
                                  capture_output=True, text=True)  # fmt: skip
            return done.returncode, done.stdout, done.stderr

        for output in ("json", "yaml"):
            code, said, why = ready("-o", output)
            self.assertEqual((code, said), (2, ""))
            self.assertIn("{table}", why)
        self.assertIn("readyz check passed", ready("-o", "table")[1])

    def test_what_the_daemon_cannot_know_or_understand_is_not_an_answer(self):
        def ask(server, *question):
            done = subprocess.run([slackline_binary(), *question, "--server", server], text=True, capture_output=True)
            return done.returncode, done.stdout, done.stderr

        for question in (["decisions", "--verb", "nosuch"], ["history", "--since", "yesterday"],
                         ["report", "--since", "yesterday"]):  # fmt: skip
            with self.subTest(question):
                code, _, said = ask(self.daemon.api_url, *question)
                self.assertEqual(code, 2, said)
                self.assertIn("expected", said)
        self.assertEqual(ask(self.daemon.api_url, "history", "--since", "7d")[0], 0)
        with ApiServer() as server, tempfile.TemporaryDirectory() as folder:
            kubeconfig = pathlib.Path(folder) / "config"
            kubeconfig.write_text(kubeconfig_of(server.url))
            unread = Daemon(kubeconfig, folder)
            unread.process.start()
            self.addCleanup(unread.kill)
            wait(lambda: ask(unread.api_url, "cluster")[0] == 0, 20, "REST to answer")
            for question in (["queue"], ["queue", "team/job"], ["nodes"], ["tasks"], ["eta", "team/job"],
                             ["try", ROOT / "manifests/pods/resnet50.yaml"]):  # fmt: skip
                with self.subTest(question):
                    code, shown, said = ask(unread.api_url, *question)
                    self.assertEqual((code, [line for line in shown.splitlines() if "NAME" in line]), (3, []), said)
                    self.assertIn("the first list of the cluster is not complete yet", said)
            unread.kill()

    def test_a_shell_completes_commands_and_flags(self):
        script = subprocess.run(
            [slackline_binary(), "completion", "bash"], text=True, capture_output=True, check=True
        ).stdout
        ask = 'COMP_WORDS=({}); COMP_CWORD={}; _slackline; echo "${{COMPREPLY[@]}}"'
        for words, at, wanted in (("slackline que", 1, "queue"), ("slackline queue --wat", 2, "--watch")):
            done = subprocess.run(["bash", "-c", script + ask.format(words, at)], text=True, capture_output=True)
            self.assertEqual(done.stdout.strip(), wanted, done.stderr)

    def test_kubectl_learns_the_choices_for_a_word(self):
        program = self.directory / "kubectl_complete-slackline"
        program.symlink_to(ROOT / "deploy/client/slackline.sh")

        def choices(*words, server=self.daemon.api_url):
            done = subprocess.run(["sh", program, *words], text=True, capture_output=True, timeout=20,
                                  env={**os.environ, "SLACKLINE_SERVER": server})  # fmt: skip
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return done.stdout.split()

        self.assertEqual(choices("qu"), ["queue", "quote", ":4"])
        self.assertEqual(choices("why", "team-llm/"), ["team-llm/lora-70b", "team-llm/sft-70b", ":4"])
        self.assertEqual(choices("eta", "nobody/"), [":4"])
        self.assertEqual(choices("why", "", server="http://127.0.0.1:1"), [":4"])

    def test_a_flag_beats_the_environment(self):
        def nodes(server, variable):
            return subprocess.run([slackline_binary(), "nodes", "--server", server], text=True, capture_output=True,
                                  env={**os.environ, "SLACKLINE_SERVER": variable})  # fmt: skip

        nowhere = f"http://127.0.0.1:{free_ports(1)[0]}"
        self.assertIn("a100-1", nodes(self.daemon.api_url, nowhere).stdout)
        self.assertEqual(nodes(nowhere, self.daemon.api_url).returncode, 3)

    def test_a_release_without_an_api_server_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            kubeconfig = pathlib.Path(folder) / "config"
            kubeconfig.write_text(kubeconfig_of(f"http://127.0.0.1:{free_ports(1)[0]}"))
            done = subprocess.run([slackline_binary(), "release", "--kubeconfig", kubeconfig, "--timeout", "2"],
                                  text=True, capture_output=True)  # fmt: skip
        self.assertEqual(done.returncode, 3)
        self.assertIn("did not answer with complete lists within 2 s", done.stderr)
        self.assertNotIn("objects still wait", done.stderr)

    def test_a_release_takes_lease_and_kubeconfig_from_the_configuration_and_flags_win(self):
        with ApiServer() as server, tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "slackline.yaml"
            kubeconfig = pathlib.Path(folder) / "kubeconfig"
            kubeconfig.write_text(kubeconfig_of(server.url))
            config.write_text(
                "apiVersion: config.slackline.dev/v1alpha1\nkind: SlacklineConfiguration\n"
                "planner: {lease: team/planner}\ncluster: {kubeconfig: kubeconfig}\n"
            )
            for flags, lease in (([], "team/leases/planner"), (["--lease", "a/b"], "a/leases/b")):
                server.paths.clear()
                done = subprocess.run(
                    [slackline_binary(), "release", "--config", config, "--if-lease-older-than", "1s", *flags],
                    text=True, capture_output=True)  # fmt: skip
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertEqual(server.paths, [f"/apis/coordination.k8s.io/v1/namespaces/{lease}"])

    def test_a_release_names_the_key_that_makes_the_cluster_a_dump(self):
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "slackline.yaml"
            config.write_text(
                "apiVersion: config.slackline.dev/v1alpha1\nkind: SlacklineConfiguration\n"
                "cluster: {source: 'file:dump.yaml'}\n"
            )
            done = subprocess.run([slackline_binary(), "release", "--config", config],
                                  text=True, capture_output=True)  # fmt: skip
        self.assertEqual(done.returncode, 3)
        self.assertIn("cluster.source is a dump, which holds nothing back", done.stderr)

    def test_a_release_says_what_is_wrong_with_its_options_before_it_connects(self):
        for flags, said in (
            (["--if-lease-older-than", "5 moons"], "write a duration of at most 24h"),
            (["--if-lease-older-than", "5m", "--lease", "planner"], "--lease planner: write NAMESPACE/NAME"),
        ):
            done = subprocess.run([slackline_binary(), "release", "--kubeconfig", "/no/such/file", *flags],
                                  text=True, capture_output=True)  # fmt: skip
            self.assertEqual(done.returncode, 3)
            self.assertIn(said, done.stderr)

    def test_an_unknown_command_is_named_with_what_was_meant(self):
        done = subprocess.run([slackline_binary(), "quque"], text=True, capture_output=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn('unknown command "quque", did you mean queue?', done.stderr)
        done = subprocess.run([slackline_binary()], text=True, capture_output=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("simulate", done.stderr)

    def test_no_daemon_is_said_with_the_remedy(self):
        port = free_ports(1)[0]
        done = subprocess.run([slackline_binary(), "nodes", "--server", f"http://127.0.0.1:{port}"],
                              text=True, capture_output=True)  # fmt: skip
        self.assertEqual(done.returncode, 3)
        self.assertIn("slackline serve", done.stderr)


class ModelsTest(unittest.TestCase):
    """The daemon learns how fast a model trains."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = pathlib.Path(folder.name)
        self.daemon = Daemon(None, self.directory, flags=["--cluster", f"file:{DUMP}"])
        self.addCleanup(self.daemon.kill)
        self.daemon.start()

    def send(self, method, path, body, content_type="application/json", accept="application/json"):
        if not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        link = http.client.HTTPConnection("127.0.0.1", self.daemon.api_port, timeout=30)
        with contextlib.closing(link):
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # answered unread
                link.request(method, path, body, {"Content-Type": content_type, "Accept": accept})
            answer = link.getresponse()
            return answer.status, answer.read().decode()

    def model(self, name):
        status, text = self.daemon.get(f"/v1/models/{name}")
        self.assertEqual(status, 200, text)
        return json.loads(text)

    @staticmethod
    def measured(gpu_type="T4"):
        """Fifteen samples of one law: 2 ms a sample, and 1.5 ms for each further node."""
        samples = []
        for nodes, gpus in ((1, 1), (1, 2), (1, 4), (2, 2), (2, 4)):
            for batch in (32, 64, 128):
                step_s = 0.01 + 0.002 * batch / (nodes * gpus) + 0.0015 * (nodes - 1)
                samples.append({"gpuType": gpu_type, "batch": batch, "placement": f"{nodes}x{gpus}",
                                "throughputSamplesPerS": batch / step_s, "origin": "calibration"})  # fmt: skip
        return samples

    def test_what_is_learnt_is_used_and_survives_a_restart(self):
        self.assertEqual(self.daemon.get("/v1/models/newnet")[0], 404)
        status, text = self.send("POST", "/v1/models/newnet/samples", {"samples": self.measured()})
        self.assertEqual(status, 200, text)
        answer = json.loads(text)
        self.assertEqual(answer["accepted"], 15)
        (learnt,) = answer["gpuTypes"]
        self.assertEqual((learnt["gpuType"], learnt["from"], learnt["version"]), ("T4", "fitted here", 1))
        self.assertEqual((learnt["samples"], learnt["refusal"]), (15, ""))
        self.assertLess(learnt["heldOutMape"], 10)
        described = {"family": "newnets", "parameters": 25.6e6, "flopsPerSample": 4.1e9, "description": "a test"}
        status, text = self.send("PUT", "/v1/models/newnet", described)
        self.assertEqual(status, 200, text)
        before = self.model("newnet")
        self.assertEqual({key: before[key] for key in described}, described)
        self.assertEqual(self.daemon.total("slackline_model_samples_total", origin="calibration"), 15)
        self.assertEqual(self.daemon.total("slackline_model_fits_total", result="done"), 1)
        self.daemon.restart()
        self.assertEqual(self.model("newnet"), before)

    def test_finished_runs_become_a_file_of_samples(self):
        def from_runs(store, *flags):
            command = [slackline_binary(), "samples", "from-runs", "--store", self.directory / store, *flags]
            return subprocess.run(command, text=True, capture_output=True, check=False)

        samples = self.measured()
        for sample in samples[:4]:
            sample["origin"] = "run"
        self.assertEqual(self.send("POST", "/v1/models/ranhere/samples", {"samples": samples})[0], 200)
        done = from_runs("slackline.db", "--model", "ranhere")
        self.assertEqual(done.returncode, 0, done.stderr)
        header, *rows = done.stdout.splitlines()
        self.assertEqual(header, "model,gpu_type,batch,placement,throughput_samples_per_s,model_parallel,source")
        self.assertEqual([row.split(",")[2] for row in rows], ["32", "64", "128", "32"])
        self.assertEqual(from_runs("slackline.db", "--model", "nobody").returncode, 4)
        absent = from_runs("absent.db")
        self.assertEqual(absent.returncode, 3, "what cannot be read is no lack of data")
        self.assertIn(f"--store {self.directory / 'absent.db'}", absent.stderr)

    def test_csv_is_taken_and_another_models_rows_are_not(self):
        header = "model,gpu_type,batch,placement,throughput_samples_per_s,source\n"
        rows = "newnet,T4,64,1x2,800,by hand\nnewnet,A100,64,4+2+1,900,\n"
        path = "/v1/models/newnet/samples"
        status, text = self.send("POST", path, header + rows, "text/csv; charset=utf-8", "text/plain")
        self.assertEqual(status, 200, text)
        self.assertRegex(text, r"^2 samples stored\n")
        self.assertRegex(text, r"newnet +A100 .*not fitted: 1 of 3 different measurements")
        status, text = self.send("POST", path, header + rows + "bert,T4,0,1x2,x,\n", "text/csv")
        self.assertEqual(status, 400)
        for words in ("line 4: batch", "line 4: throughput_samples_per_s"):
            self.assertIn(words, json.loads(text)["message"])
        status, text = self.send("POST", path, header + "bert,T4,64,1x2,5,\n", "text/csv")
        self.assertIn("line 2: model", json.loads(text)["message"])
        self.assertEqual(sum(each["samples"] for each in self.model("newnet")["gpuTypes"]), 2)

    def test_bad_bodies_are_refused_whole_and_every_wrong_field_is_named(self):  # F42
        path = "/v1/models/newnet/samples"
        good = self.measured()[0]
        for body, words in [
            (
                {"samples": [good, {**good, "batch": -1, "placement": "4x"}]},
                ["samples[1].batch", "samples[1].placement"],
            ),
            ({"samples": [{**good, "colour": 1}]}, ["samples[0].colour", "unknown key"]),
            (
                {"samples": [{**good, "placement": "2x4", "batch": 2, "modelParallel": 1}]},
                ["samples[0].batch", "replicas"],
            ),
            ({"samples": [{**good, "origin": "guess"}, 7]}, ["samples[0].origin", "samples[1]"]),
            ({"samples": [{}]}, ["gpuType", "batch", "placement", "throughputSamplesPerS"]),
            ({"samples": []}, ["1 to 5000"]),
            ({"sample": [good]}, ["sample:", "samples"]),
            ("[1, 2", [""]),
            ("\ud83d".encode("utf-8", "surrogatepass"), [""]),
            ('{"samples": [{"batch": 1e999}]}', [""]),
            ("[" * 5000, [""]),
        ]:
            with self.subTest(str(body)[:60]):
                status, text = self.send("POST", path, body)
                self.assertEqual((status, json.loads(text)["reason"]), (400, "BadRequest"), text)
                for word in words:
                    self.assertIn(word, json.loads(text)["message"])
        self.assertEqual(self.send("POST", path, {"samples": [good]}, "application/xml")[0], 415)
        self.assertEqual(self.send("POST", path, " " * (3 << 20))[0], 413)
        self.assertEqual(self.send("PATCH", "/v1/models/newnet", "")[0], 405)
        for body, word in [({"familly": "x"}, "familly"), ({"parameters": 0}, "parameters"), ("null", "object")]:
            with self.subTest(str(body)):
                status, text = self.send("PUT", "/v1/models/newnet", body)
                self.assertEqual(status, 400, text)
                self.assertIn(word, text)
        self.assertEqual(self.daemon.get("/v1/models/newnet")[0], 404, "nothing was stored")

    def test_a_locked_database_is_said_with_the_remedy(self):
        lock = sqlite3.connect(self.directory / "slackline.models.db", isolation_level=None)
        with contextlib.closing(lock):
            lock.execute("BEGIN IMMEDIATE")
            status, text = self.send("POST", "/v1/models/newnet/samples", {"samples": self.measured()})
            self.assertEqual((status, json.loads(text)["reason"]), (503, "ServiceUnavailable"), text)
            self.assertIn("send the same again", text)
            self.assertEqual(self.daemon.total("slackline_model_store_degraded"), 1)
            self.assertEqual(self.daemon.get("/v1/models")[0], 200)
            filtered = self.daemon.post("/v1/extender/filter", arguments(["t4-1"], name="a"))
            self.assertEqual(filtered[0], 200)
        self.assertEqual(self.send("POST", "/v1/models/newnet/samples", {"samples": self.measured()})[0], 200)
        self.assertEqual(self.daemon.total("slackline_model_store_degraded"), 0)

    def test_a_damaged_database_costs_nothing_and_two_cost_only_what_was_learnt(self):  # F30
        shipped = self.model("resnet50")
        self.send("POST", "/v1/models/newnet/samples", {"samples": self.measured()})
        learnt = self.model("newnet")
        primary = self.directory / "slackline.models.db"
        mirror = self.directory / "slackline.models.db.mirror"

        def damage(*files):
            self.daemon.kill()
            for file in files:
                for suffix in ("-wal", "-shm"):
                    file.with_name(file.name + suffix).unlink(missing_ok=True)
                file.write_bytes(b"x" * 8192)
            self.daemon.start()
            return self.daemon.get("/readyz?verbose")[1]

        self.assertIn("[+]models-stored ok\n", damage(primary))
        self.assertEqual(self.model("newnet"), learnt)
        self.assertEqual(self.daemon.total("slackline_model_store_damaged", outcome="restored"), 1)
        self.assertRegex(damage(primary, mirror), r"\[\+\]models-stored ok: .* was damaged .*\.damaged-")
        self.assertEqual(self.daemon.total("slackline_model_store_damaged", outcome="lost"), 1)
        self.assertIn("model_store_damaged", self.daemon.process.tail(200))
        self.assertEqual(self.daemon.get("/v1/models/newnet")[0], 404)
        self.assertEqual(self.model("resnet50"), shipped)
        scores = json.loads(self.daemon.get("/v1/scores?pod=team-vision/resnet-nightly")[1])["items"]
        self.assertIn("fitted", {each["source"] for each in scores})
        self.assertEqual(self.send("POST", "/v1/models/newnet/samples", {"samples": self.measured()})[0], 200)

    def test_the_command_line_shows_it(self):
        self.send("POST", "/v1/models/newnet/samples", {"samples": self.measured()})
        for argv, words in ((["models"], r"newnet +T4 +fit 1"), (["models", "newnet"], r"model newnet\n")):
            done = subprocess.run([slackline_binary(), *argv, "--server", self.daemon.api_url],
                                  text=True, capture_output=True, timeout=20)  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, words)


class SampleTest(unittest.TestCase):
    """What `make run` shows, and README of it."""

    @classmethod
    def setUpClass(cls):
        names = ("EXTENDER_PORT", "API_PORT", "METRICS_PORT")
        ports = dict(zip(names, map(str, free_ports(3)), strict=True))
        done = subprocess.run(
            [ROOT / "scripts/run"], text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=120,
            env={**os.environ, "SLACKLINE_BIN": str(slackline_binary()), **ports},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        cls.printed, cls.port = done.stdout, ports["API_PORT"]

    @staticmethod
    def rows(text):
        """Of the table of the queue: name, class, reason, note and GPU type, whatever else it has."""
        table = text.split("$ slackline queue\n")[1]
        lines = table[table.index("POSITION") :].split("\n\n")[0].splitlines()
        begins = {title: lines[0].index(title) for title in ("NAME", "CLASS", "REASON", "NOTE", "GPU TYPE")}
        words = lambda line, at: line[at:].split("  ")[0].strip()  # noqa: E731
        return [[words(line, at) for at in begins.values()] for line in lines[1:] if line[:8].strip().isdigit()]

    def test_the_address_of_the_page_comes_first(self):
        self.assertTrue(self.printed.startswith(f"The page: http://127.0.0.1:{self.port}/ "), self.printed[:200])

    def test_one_is_late_one_is_blocked_and_most_start_now(self):
        rows = self.rows(self.printed)
        self.assertEqual([(row[0], row[3]) for row in rows if row[3] != "-"],
                         [("team-llm/sft-70b", "LATE"), ("team-speech/b300-finetune", "BLOCKED")])  # fmt: skip
        self.assertGreater(sum(row[2] == "StartsNow" for row in rows), len(rows) / 2)
        self.assertIn("pretrain-7b", self.printed, "whose GPUs sft-70b waits for")
        self.assertRegex(self.printed, r"\nteam-video +diffusion +Gang +waiting .* 3x2 ")

    def test_readme_shows_the_same_queue(self):
        self.assertEqual(self.rows((ROOT / "README.md").read_text()), self.rows(self.printed))

    def test_it_is_a_cluster_of_today_as_kubectl_writes_it(self):
        text = DUMP.read_text()
        for word in ("H100", "L40S", "A100", "T4", "mig-3g.20gb", "torchrun", "slackline.dev/gang:", "jupyter",
                     "kind: PyTorchJob"):  # fmt: skip
            self.assertIn(word, text)
        self.assertTrue(text.endswith('\nkind: List\nmetadata:\n  resourceVersion: ""\n'))


class StartTest(unittest.TestCase):
    """Daemons that start otherwise, or refuse to."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = pathlib.Path(folder.name)

    def started(self, *flags, **how):
        daemon = Daemon(None, self.directory, flags=flags, **how)
        self.addCleanup(daemon.kill)
        return daemon.start()

    def refusal(self, *flags):
        done = subprocess.run(
            [slackline_binary(), "serve", "--store", self.directory / "s.db", *flags],
            text=True, capture_output=True, timeout=20,
        )  # fmt: skip
        self.assertEqual(done.returncode, 3, done.stderr)
        return done.stderr

    def test_a_changed_dump_is_followed_and_a_broken_one_is_not(self):
        dump = self.directory / "dump.yaml"
        dump.write_text(DUMP.read_text())
        daemon = self.started("--cluster", f"file:{dump}")

        def names():
            return daemon.get("/v1/nodes?limit=1")[1]

        dump.write_text("kind: List\nitems: [")
        dump.write_text(DUMP.read_text().replace("a100-1", "renamed-0"))
        wait(lambda: '"a100-2"' in names(), 5, "the new content")
        dump.write_text("kind: List\nitems: [unclosed")
        with self.assertRaises(AssertionError):
            wait(lambda: '"a100-2"' not in names(), 2.5, "the broken content (it must be ignored)")

    def test_the_queue_of_a_dump_is_what_the_planner_would_do(self):
        daemon = self.started("--cluster", f"file:{DUMP}", mode="shadow")
        rows = json.loads(daemon.get("/v1/queue")[1])["items"]
        self.assertEqual({row["name"] for row in rows},
                         {"translate-urgent", "reranker", "resnet-any-type", "resnet-nightly", "diffusion",
                          "bert-release", "sft-70b", "lora-70b", "b300-finetune", "mystery"})  # fmt: skip
        self.assertEqual([row["position"] for row in rows], list(range(1, 11)))
        gang = next(row for row in rows if row["namespace"] == "team-video")
        self.assertEqual((gang["name"], gang["kind"], gang["shape"]), ("diffusion", "Gang", "3x2"), "a PyTorchJob")
        blocked = next(row for row in rows if row["blocked"])
        self.assertEqual(
            (blocked["name"], blocked["reason"], blocked["forecast"]), ("b300-finetune", "GpuTypeAbsent", "Never")
        )
        for row in rows:
            if row is blocked:
                continue
            self.assertIn(row["reason"], ("StartsNow", "WaitsItsTurn"))
            if row["name"] == "mystery":  # without a key of Slackline
                self.assertEqual(row["forecast"], "LengthUnknown")
                continue
            self.assertLessEqual(row["predictedStart"], row["predictedFinish"])
            self.assertIn("marginSeconds", row)
            self.assertTrue(row["late"], "its deadline was in the days of the dump")
        table = slackline("queue", "-s", daemon.api_url)
        self.assertIn("nothing is released", table)
        self.assertIn("1 task waits without annotations of Slackline", table)
        for word in ("LATE", "BLOCKED"):
            self.assertIn(word, table)

    def test_the_starts_of_a_dump_are_in_the_journal(self):
        dump = self.directory / "dump.yaml"
        dump.write_text(DUMP.read_text())
        daemon = self.started("--cluster", f"file:{dump}", mode="shadow")

        def started():
            rows = json.loads(daemon.get("/v1/decisions?verb=plan")[1])["items"]
            return [(row["name"], row["podUid"][-3:]) for row in rows]

        wait(lambda: ("lora-70b", "203") in started(), 10, "the Job that would start")
        self.assertRegex(daemon.get("/v1/decisions?verb=plan")[1], r'"result":"would start: \dx\d \w+ on \w+')
        censored = {"queue": "team-llm", "real": "censored", "result": "censored"}
        before = daemon.total("slackline_shadow_deadlines_total", **censored)
        # Deleted, and created again by the same name.
        dump.write_text(DUMP.read_text().replace("000000000203", "000000000999"))
        wait(lambda: daemon.total("slackline_shadow_deadlines_total", **censored) == before + 1, 10,
             "the one that was deleted to be counted")  # fmt: skip
        wait(lambda: ("lora-70b", "999") in started(), 10, "the new one")

    def test_shadow_mode_passes_what_advise_refuses(self):
        daemon = self.started("--cluster", f"file:{DUMP}", mode="shadow")
        body = arguments(["t4-1", "t4-2"], name="a", gpus=2)
        self.assertEqual(json.loads(daemon.post("/v1/extender/filter", body)[1])["NodeNames"], ["t4-1", "t4-2"])
        self.assertEqual(json.loads(daemon.post("/v1/extender/prioritize", body)[1]), [])
        self.assertEqual(daemon.total("slackline_filter_nodes_total", reason="HeldForOthers"), 1)

    def test_mutual_tls(self):  # F36
        pki = Pki(self.directory / "pki")
        settings = f"listeners: {{extender: {{tls: {pki.mutual_tls()}}}}}\n"
        daemon = self.started("--cluster", f"file:{DUMP}", settings=settings)

        def answer(client):
            context = ssl.create_default_context(cafile=pki.crt("ca"))
            if client:
                context.load_cert_chain(pki.crt(client), pki.key(client))
            link = http.client.HTTPSConnection("127.0.0.1", daemon.extender_port, context=context, timeout=5)
            with contextlib.closing(link):
                link.request("POST", "/v1/extender/filter", arguments(["t4-1"], name="a"))
                return json.loads(link.getresponse().read())["NodeNames"]

        self.assertEqual(answer("scheduler"), ["t4-1"])
        for stranger in (None, "admin"):  # no certificate; one of the same CA with another name
            with self.subTest(stranger):
                with self.assertRaises((ssl.SSLError, ConnectionError, http.client.RemoteDisconnected)):
                    answer(stranger)

    def test_what_it_refuses_to_start_with(self):
        dump = ["--cluster", f"file:{DUMP}"]
        self.assertIn("missing.yaml", self.refusal("--cluster", "file:missing.yaml"))
        self.assertEqual(list(self.directory.iterdir()), [], "files of a daemon that never ran")
        self.assertIn("TLS", self.refusal(*dump, "--listen-extender", "0.0.0.0:0"))
        self.assertIn("TLS", self.refusal(*dump, "--listen-api", "0.0.0.0:0"))
        self.assertIn("kube, or file:DUMP", self.refusal("--cluster", "docker"))
        bad = self.directory / "bad.yaml"
        bad.write_text("apiVersion: config.slackline.dev/v1alpha1\nkind: SlacklineConfiguration\nmodus: advise\n")
        self.assertRegex(self.refusal("--config", bad), r"bad\.yaml:3: .*modus")
        bad.write_text("apiVersion: config.slackline.dev/v1alpha1\nkind: SlacklineConfiguration\n"
                       "listeners: {extender: {address: ':0', tls: {certFile: c, keyFile: k}}}\n")  # fmt: skip
        self.assertIn("add clientCAFile", self.refusal("--config", bad))

    def test_check_finds_what_is_wrong_and_passes_what_we_ship(self):
        def check(*argv):
            return subprocess.run([slackline_binary(), "check", *argv], text=True, capture_output=True, timeout=20)

        ours = check("--config", ROOT / "deploy/slackline.yaml",
                     "--scheduler", ROOT / "deploy/kube-scheduler/gpu-scheduler.yaml")  # fmt: skip
        self.assertEqual(ours.returncode, 0, ours.stdout)
        text = (ROOT / "deploy/kube-scheduler/gpu-scheduler.yaml").read_text()
        harmful = self.directory / "scheduler.yaml"
        harmful.write_text(text.replace("nodeCacheCapable: true", "nodeCacheCapable: false"))
        (own := self.directory / "own.yaml").write_text(
            "apiVersion: config.slackline.dev/v1alpha1\nkind: SlacklineConfiguration\nplanner:\n  policy: savable,headrom=0\n"
        )
        found = check("--config", own)
        self.assertEqual(found.returncode, 1)
        self.assertRegex(found.stdout, r'own\.yaml:4: error: planner\.policy: .*"headrom"')
        self.assertNotIn("no findings", found.stdout)
        found = check("--config", own, "--scheduler", harmful, "--stanza")
        self.assertEqual(found.returncode, 1)
        self.assertTrue(found.stdout.endswith(f"{own}: not done before its errors are mended: --scheduler, --stanza\n"))
        self.assertNotIn("nodeCacheCapable", found.stdout, "nothing is told of another configuration")
        found = check("--cluster", "kube", "--kubeconfig", self.directory / "none")
        self.assertEqual(found.returncode, 3, found.stdout)
        self.assertIn("cluster: error: kubeconfig", found.stdout)
        own.write_text(own.read_text().replace("headrom=0", "headroom=0") + "queue: {rescheduling: auto}\n")
        found = check("--config", own)
        self.assertEqual(found.returncode, 0, "it works, if only by advice")
        self.assertRegex(found.stdout, r"own\.yaml:4: warning: queue\.rescheduling: .* only advised; choose a policy")
        found = check("--scheduler", harmful)
        self.assertEqual(found.returncode, 1, found.stdout)
        self.assertRegex(found.stdout, r"scheduler\.yaml:\d+: error: .*nodeCacheCapable")
        self.assertRegex(found.stdout, r"scheduler\.yaml:\d+: warning: .*keyFile: .* is not on this machine")
        harmful.write_text(
            text.replace("      certFile:", "      # certFile:").replace("      keyFile:", "      # keyFile:")
        )
        found = check("--scheduler", harmful)
        self.assertRegex(found.stdout, r"scheduler\.yaml:\d+: error: .*has no client certificate")

    def test_check_finds_gpus_that_kueue_and_shares_both_promise(self):
        (config := self.directory / "shares.yaml").write_text(
            "apiVersion: config.slackline.dev/v1alpha1\nkind: SlacklineConfiguration\n"
            "queues: [{name: vision, shares: {A100: {own: 8}}}]\n"
        )
        kueue = """\
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: a100},
 spec: {nodeLabels: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB}}}
---
{apiVersion: v1, kind: Node, metadata: {name: a, labels: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB}},
 status: {allocatable: {nvidia.com/gpu: "12"}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: ml}, spec: {resourceGroups: [
  {coveredResources: [nvidia.com/gpu], flavors: [{name: a100, resources: [
    {name: nvidia.com/gpu, nominalQuota: 8}]}]}]}}
"""

        def check(text, *argv):
            return subprocess.run(
                [slackline_binary(), "check", *argv], input=text, text=True, capture_output=True, timeout=20
            )

        found = check(kueue, "--config", config, "--kueue", "-")
        self.assertEqual(found.returncode, 1, found.stdout)
        self.assertIn("standard input: A100: 8 GPUs by quotas of Kueue, 8 owned by queues of Slackline, 12 on nodes",
                      found.stdout)  # fmt: skip
        self.assertIn("standard input: error: A100: 16 GPUs are promised, 4 more than the nodes have", found.stdout)
        (file := self.directory / "kueue.yaml").write_text(kueue.replace('"12"', '"16"'))
        found = check("", "--config", config, "--kueue", file)
        self.assertEqual(found.returncode, 0, found.stdout)
        self.assertIn("kueue.yaml: no findings", found.stdout)
        file.write_text(kueue.replace("nominalQuota: 8", "nominalQuota: many"))
        found = check("", "--config", config, "--kueue", file)
        self.assertEqual(found.returncode, 1)
        self.assertRegex(found.stdout, r"kueue\.yaml: error: ClusterQueue ml: .*nominalQuota: .*many.*; write")
        self.assertEqual(check("", "--kueue", file).returncode, 2, "it is compared with a configuration")


if __name__ == "__main__":
    unittest.main()
