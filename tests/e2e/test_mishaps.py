"""What happens to a daemon on any day: signals, a second one on its store, a store that is gone, a dump that
is half written, callers who send nonsense, and typing errors on the command line."""

import json
import os
import pathlib
import shutil
import signal
import sqlite3
import stat
import subprocess
import tempfile
import time
import unittest

from support.daemon import Daemon, slackline_binary
from support.patience import patient
from support.process import free_ports, wait


def node(name):
    amounts = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"}
    labels = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": name, "labels": labels},
        "status": {"allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def run(*arguments, timeout=60):
    return subprocess.run([slackline_binary(), *map(str, arguments)], text=True, capture_output=True, timeout=timeout)


class MishapsTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.dump = self.directory / "dump.json"
        self.write([node("a"), node("b")])

    def write(self, items):
        self.dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))

    def daemon(self, name="one", flags=(), settings=""):
        flags = ["--cluster", f"file:{self.dump}", "--grace", "0", *flags]
        daemon = Daemon(None, self.directory / name, flags=flags, settings=settings)
        self.addCleanup(daemon.kill)
        return daemon

    def log_of(self, daemon):
        return (daemon.config.parent / "slackline.log").read_text()

    def ask(self, daemon, pod="p"):
        body = {"Pod": {"metadata": {"name": pod, "namespace": "n", "uid": pod}, "spec": {}}, "NodeNames": ["a", "b"]}
        return daemon.post("/v1/extender/filter", json.dumps(body))[0]

    def readiness(self, daemon):
        return daemon.get("/readyz?verbose", port=daemon.metrics_port)[1]

    # ---- signals -------------------------------------------------------------------------------

    def test_a_hangup_reads_the_files_again_and_ends_nothing(self):
        daemon = self.daemon(settings="queue: {maxPending: 5}\n").start()
        pid = daemon.process.pid
        for ignored in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM):
            os.kill(pid, ignored)
        loaded = self.log_of(daemon).count("cluster_file_loaded")
        os.kill(pid, signal.SIGHUP)
        wait(lambda: self.log_of(daemon).count("cluster_file_loaded") > loaded, 10, "the dump to be read again")
        wait(lambda: daemon.total("slackline_config_reloads_total", result="loaded") >= 1, 10, "the configuration too")
        self.assertEqual(self.ask(daemon), 200)
        self.assertEqual(daemon.stop(), 0)

    def test_quit_and_interrupt_drain_and_nothing_of_the_journal_is_lost(self):
        for ending in (signal.SIGQUIT, signal.SIGINT, signal.SIGTERM):
            daemon = self.daemon(ending.name).start()
            for i in range(50):
                self.assertEqual(self.ask(daemon, f"p{i}"), 200)
            os.kill(daemon.process.pid, ending)
            wait(lambda d=daemon: not d.process.alive(), 20, f"the end after {ending.name}")
            self.assertEqual(daemon.process.exit_status(), 0, ending.name)
            rows = sqlite3.connect(daemon.config.parent / "slackline.db").execute("select count(*) from decisions")
            self.assertEqual(rows.fetchone()[0], 50, ending.name)

    def test_a_credential_plugin_that_hangs_does_not_hold_up_the_end(self):
        plugin = self.directory / "hangs"
        plugin.write_text("#!/bin/sh\nexec sleep 300\n")
        plugin.chmod(0o700)
        user = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin), "interactiveMode": "Never"}
        kubeconfig = self.directory / "kubeconfig"
        kubeconfig.write_text(
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "current-context": "c",
                    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                    "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{free_ports(1)[0]}"}}],
                    "users": [{"name": "u", "user": {"exec": user}}],
                }
            )
        )
        daemon = Daemon(kubeconfig, self.directory / "hung", flags=["--grace", "0"])
        self.addCleanup(daemon.kill)
        daemon.process.start()
        wait(lambda: "event=serving" in self.log_of(daemon), 20, "the daemon to serve")
        self.assert_ends(daemon)

    def test_a_configuration_that_became_a_fifo_is_refused_and_does_not_hold_up_the_end(self):
        daemon = self.daemon(settings="queue: {maxPending: 5}\n").start()
        daemon.config.unlink()
        os.mkfifo(daemon.config)
        wait(lambda: "it is a FIFO" in self.log_of(daemon), 10, "the FIFO to be refused")
        self.assertEqual(self.ask(daemon), 200)
        self.assert_ends(daemon)

    def test_a_dump_that_became_a_fifo_is_refused_and_does_not_hold_up_the_end(self):
        daemon = self.daemon().start()
        self.dump.unlink()
        os.mkfifo(self.dump)
        wait(lambda: "is not a regular file" in self.log_of(daemon), 10, "the FIFO to be refused")
        self.assertEqual(self.ask(daemon), 200)
        self.assert_ends(daemon)

    def assert_ends(self, daemon):
        began = time.monotonic()
        self.assertEqual(daemon.stop(), 0)
        self.assertLess(time.monotonic() - began, patient(3))

    # ---- stores --------------------------------------------------------------------------------

    def test_a_second_daemon_on_the_store_is_told_and_does_not_start(self):
        first = self.daemon().start()
        second = run(
            "serve",
            "--cluster",
            f"file:{self.dump}",
            "--store",
            first.config.parent / "slackline.db",
            "--listen-extender",
            "127.0.0.1:0",
            "--listen-api",
            "127.0.0.1:0",
            "--listen-metrics",
            "127.0.0.1:0",
        )
        self.assertEqual(second.returncode, 3)
        for part in ("slackline.db is in use by process", str(first.process.pid), "--store"):
            self.assertIn(part, second.stderr)
        self.assertEqual(self.ask(first), 200)

    def test_dropped_tables_and_a_lost_version_begin_anew(self):
        for harm in ("drop table decisions", "pragma user_version=0"):
            daemon = self.daemon().start()
            daemon.stop()
            with sqlite3.connect(daemon.config.parent / "slackline.db") as store:
                store.execute(harm)
            store.close()
            daemon.start()
            self.assertEqual(self.ask(daemon), 200)
            self.assertEqual(daemon.get("/v1/decisions")[0], 200)
            self.assertIn("journal_damaged", self.log_of(daemon))
            self.assertRegex(self.readiness(daemon), r"reports begin anew; .*slackline\.db\.damaged-")
            self.assertEqual(daemon.total("slackline_journal_damaged"), 1)
            daemon.stop()
            shutil.rmtree(daemon.config.parent)

    @unittest.skipUnless(os.geteuid() == 0, "mounting a small file system takes root")
    def test_a_disk_that_takes_no_file_leaves_history_degraded_and_scheduling_on(self):
        disk = self.directory / "disk"
        for options in ("size=64k", "size=4m,nr_inodes=2", "size=4m,ro"):
            disk.mkdir(exist_ok=True)
            mounted = subprocess.run(
                ["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], capture_output=True, text=True
            )
            if mounted.returncode != 0:
                self.skipTest(f"cannot mount here: {mounted.stderr}")
            try:
                daemon = self.daemon("full")
                daemon.process.argv[daemon.process.argv.index("--store") + 1] = str(disk / "s.db")
                daemon.start()
                self.assertEqual(self.ask(daemon), 200)
                ready = self.readiness(daemon)
                self.assertIn(f"journal {disk}/s.db cannot be written", ready, options)
                self.assertIn("free", ready)
                self.assertEqual(daemon.total("slackline_journal_degraded"), 1, options)
                self.assertEqual(daemon.total("slackline_model_store_degraded"), 1, options)
                subprocess.run(["mount", "-o", "remount,rw,size=8m,nr_inodes=100", disk], check=True)
                wait(lambda d=daemon: d.total("slackline_journal_degraded") == 0, 15, "the journal to recover")
                wait(lambda d=daemon: d.total("slackline_model_store_degraded") == 0, 15, "the models to recover")
                self.assertEqual([f.name for f in disk.iterdir() if "damaged" in f.name], [])
                daemon.kill()
            finally:
                subprocess.run(["umount", "-l", disk], check=False)

    def test_the_files_are_for_their_owner_only(self):
        daemon = self.daemon().start()
        self.ask(daemon)
        for file in daemon.config.parent.glob("slackline*.db*"):
            self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600, file)

    # ---- dumps ---------------------------------------------------------------------------------

    def test_accidents_of_a_followed_dump_keep_the_last_good_cluster(self):
        daemon = self.daemon().start()
        half = "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: c, uid: c}\n"
        for content in ("{}", "Error from server (Forbidden): nodes is forbidden\n", half):
            self.dump.write_text(content)
            wait(lambda: daemon.total("slackline_cluster_file_broken") == 1, 10, content)
            self.assertEqual(json.loads(daemon.get("/v1/cluster")[1])["nodes"], 2)
            self.assertIn("cache-fresh ok: ", self.readiness(daemon))
            self.write([node("a"), node("b")])
            wait(lambda: daemon.total("slackline_cluster_file_broken") == 0, 10, "the dump to be whole again")

    # ---- callers -------------------------------------------------------------------------------

    def test_a_flood_of_nonsense_leaves_few_lines(self):
        daemon = self.daemon().start()
        for i in range(300):
            self.assertEqual(daemon.post("/v1/extender/filter", f"nonsense {i}")[0], 400)
        self.assertLess(self.log_of(daemon).count("extender_bad_request"), 40)
        self.assertEqual(daemon.requests("filter", result="bad_request"), 300)

    def test_a_decision_is_a_line_of_the_log_where_it_is_asked_for(self):
        daemon = self.daemon(settings="log: {level: debug}\n").start()
        self.ask(daemon, "uid-1")
        [line] = [line for line in self.log_of(daemon).splitlines() if "event=decision" in line]
        for part in ("verb=filter", "uid=uid-1", "duration_us=", "level=debug"):
            self.assertIn(part, line)

    def test_a_model_is_taught_and_forgotten(self):
        daemon = self.daemon().start()
        sample = {"gpuType": "A100", "batch": 64, "placement": "1x2", "throughputSamplesPerS": 800}
        taught = subprocess.run(
            [
                "curl",
                "-sf",
                "-H",
                "Content-Type: application/json",
                "-d",
                json.dumps({"samples": [sample]}),
                f"{daemon.api_url}/v1/models/net/samples",
            ],
            capture_output=True,
        )
        self.assertEqual(taught.returncode, 0, taught.stderr)
        forgotten = run("models", "net", "--delete", "--server", daemon.api_url)
        self.assertEqual(
            (forgotten.returncode, forgotten.stdout), (0, "removed the learned data of net\n"), forgotten.stderr
        )
        again = run("models", "net", "--delete", "--server", daemon.api_url)
        self.assertEqual(again.returncode, 3)
        self.assertIn("no model is named net", again.stderr)


class CommandLineTest(unittest.TestCase):
    def refusal(self, *arguments):
        done = run(*arguments)
        self.assertNotEqual(done.returncode, 0, arguments)
        self.assertLess(len(done.stderr), 400, "a range is told in few digits")
        return done.stderr

    def test_what_is_no_number_is_refused_and_the_range_is_short(self):
        trace = ("simulate", "--generate", "paper000", "--profile", "manifests/profiles/k80.json")
        for option in ("--theta", "--sigma", "--checkpoint", "--restart", "--fallback-after", "--rate", "--hours"):
            for value in ("nan", "inf", "-1", "1e400"):
                self.assertIn("must be a number between", self.refusal(*trace, option, value))
        question = ("predict", "--model", "resnet50", "--gpu-type", "A100")
        for value in ("nan", "inf", "1e308"):
            self.assertIn("between 1 and 1e+09", self.refusal(*question, "--batch", value))
        self.assertIn('"65536x65536"', self.refusal(*question, "--batch", "64", "--platform", "65536x65536"))
        self.assertIn("at most 65536 are listed", self.refusal(*question, "--batch", "64", "--platform", "4096x32"))
        self.assertIn("platform", self.refusal(*trace, "--platform", "65536x65536:k80"))

    def test_a_file_that_is_not_there_is_no_lack_of_data(self):
        self.assertEqual(run("pairs", "fit", "nofile:k80").returncode, 3)

    def test_wrong_usage_of_presets_is_told_from_files_that_are_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            pairs = pathlib.Path(folder, "pairs.json")
            pairs.write_text('{"t4": {"a": {"null": 9, "a": [8, 8], "b": [8, 8]}, "b": {"null": 9, "b": [8, 8]}}}')
            speeds = pathlib.Path(folder, "speeds.json")
            job = """{"('ResNet-50 (batch size 64)', 1)": {"null": 1}}"""
            speeds.write_text(f'{{"k80": {job}, "p100": {job}}}')
            broken = pathlib.Path(folder, "broken.json")
            broken.write_text("[]")
            sharing = ("simulate", "--preset", "sharing", "--jobs", "5", "--seeds", "0", "--pairs")
            match = ("simulate", "--preset", "match", "--jobs", "5", "--seeds", "0", "--speeds")
            elastic = ("simulate", "--preset", "paper003", "--jobs", "5", "--curve-files", pairs)
            for code, arguments in (
                (0, (*sharing, f"{pairs}:t4")),
                (0, (*match, speeds)),
                (0, (*elastic, "--seeds", "0")),  # drawn curves: the folder is not looked at
                (2, (*elastic, "--seeds", "5-3")),
                (2, (*elastic, "--compare", "nosuch")),
                (2, (*match, speeds, "--types", "k80,v100")),
                (2, (*match, f"{speeds}:k80")),
                (2, (*sharing, f"{pairs}:v100")),
                (2, ("pairs", "fit", f"{pairs}:v100")),
                (2, ("pairs", "fit", speeds)),  # of which type?
                (3, ("pairs", "fit", broken)),
                (3, (*match, broken)),
                (4, ("pairs", "fit", f"{speeds}:k80")),  # no pair ran
                (3, (*elastic, "--seeds", "0", "--curves", "real")),  # no folder
            ):
                done = run(*arguments)
                self.assertEqual(done.returncode, code, f"{arguments}: {done.stderr}")

    def test_hours_of_forecasts_are_in_order(self):
        said = self.refusal(
            "simulate", "--generate", "paper000", "--profile", "manifests/profiles/k80.json",
            "--forecasts", "/dev/null", "--forecast-hours", "5", "1",
        )  # fmt: skip
        self.assertIn("--forecast-hours 5 1: FROM must not be after UNTIL", said)

    def test_a_trace_without_tasks_is_an_error(self):
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as trace:
            trace.write("id,submit,type,batch,iters,klass,deadline,req\n")
            trace.flush()
            said = self.refusal("simulate", "--trace", trace.name, "--profile", "manifests/profiles/k80.json")
        self.assertIn("has no tasks", said)

    def test_a_token_never_goes_over_the_network_in_the_clear(self):
        said = self.refusal("nodes", "--server", "http://192.0.2.1:8180", "--token", "secret")
        self.assertIn("in the clear", said)
        self.assertNotIn("secret", said)
        said = self.refusal("nodes", "--server", "http://127.0.0.1@192.0.2.1:1", "--token", "secret")
        self.assertIn("in the clear", said)
        self.assertIn("no daemon answers", self.refusal("nodes", "--server", "http://127.0.0.1:1", "--token", "t"))

    def test_check_finds_what_would_do_harm_and_never_says_no_findings_beside_it(self):
        head = "apiVersion: config.slackline.dev/v1alpha1\nkind: SlacklineConfiguration\n"
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "slackline.yaml"
            for body, word, code in (
                ("planner: {policy: nope}\n", "policy", 1),
                ("profiles: [/nonexistent/*.json]\n", "no file matches", 1),
                ("listeners: {metrics: {address: 'example.com:80'}}\n", "IP address", 1),
                ("listeners: {metrics: {address: '127.0.0.1:8180'}}\n", "where api listens", 1),
                ("cluster: {staleAfter: 1s}\n", "at least 90s", 1),
                ("extender: {certificate: {names: ['a,DNS:evil']}}\n", "DNS name", 1),
                ("listeners: {api: {tls: {certFile: /x, keyFile: /y}}}\n", "/x cannot be read here", 0),
            ):
                file.write_text(head + body)
                done = run("check", "--config", file)
                self.assertEqual(done.returncode, code, done.stdout)
                self.assertIn(word, done.stdout)
                self.assertNotIn("no findings", done.stdout)
            file.write_text(head)
            self.assertIn("no findings", run("check", "--config", file).stdout)

    def test_a_profile_that_cannot_be_used_is_refused_by_every_command(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as profile:
            json.dump(
                {
                    "apiVersion": "config.slackline.dev/v1alpha1",
                    "kind": "WorkloadProfile",
                    "entries": [{"model": "net", "gpuType": "T4", "coefficients": {"kind": "Z", "params": [1]}}],
                },
                profile,
            )
            profile.flush()
            said = self.refusal(
                "predict", "--profile", profile.name, "--model", "net", "--batch", "8", "--gpu-type", "T4"
            )
            for part in (profile.name, "net on T4", '"Z" is not a kind of model', "S/mean"):
                self.assertIn(part, said)
            self.assertIn(
                "not a kind of model", self.refusal("simulate", "--generate", "paper000", "--profile", profile.name)
            )


if __name__ == "__main__":
    unittest.main()
