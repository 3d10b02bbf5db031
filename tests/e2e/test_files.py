"""Which files the program makes and changes: none in the folder of who looks at a dump, and never
what is not a regular file of its own."""

import contextlib
import json
import os
import pathlib
import socket
import stat
import subprocess
import tempfile
import threading
import unittest

from support.daemon import ROOT, Daemon, slackline_binary
from support.process import wait

DUMP = ROOT / "manifests/clusters/demo.yaml"


def waiting_pod():
    limits = {"nvidia.com/gpu": "1"}
    return {
        "metadata": {"name": "p", "namespace": "t", "uid": "u-p"},
        "spec": {"containers": [{"name": "c", "resources": {"limits": limits}}]},
        "status": {"phase": "Pending"},
    }


def listing(folder):
    """What a change of type, mode, owner, inode or device would show, of everything in the folder."""
    found = {}
    for path in sorted(folder.iterdir()):
        at = path.lstat()
        found[path.name] = (
            stat.S_IFMT(at.st_mode),
            stat.S_IMODE(at.st_mode),
            at.st_uid,
            at.st_gid,
            at.st_ino,
            at.st_rdev,
        )
    return found


class FilesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def make_special_files(self):
        """A folder, a FIFO, a socket, devices where this user may make them, and links to each."""
        names = ["folder", "fifo", "socket"]
        (self.folder / "folder").mkdir()
        os.mkfifo(self.folder / "fifo")
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(self.folder / "socket"))
        with contextlib.suppress(PermissionError):
            os.mknod(self.folder / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
            os.mknod(self.folder / "full", stat.S_IFCHR | 0o666, os.makedev(1, 7))
            names += ["null", "full"]
        for name in names:
            (self.folder / name).chmod(0o666)
            (self.folder / f"link-to-{name}").symlink_to(self.folder / name)
        return names + [f"link-to-{name}" for name in names]

    def run_in_folder(self, *arguments, **how):
        return subprocess.run(
            [slackline_binary(), *map(str, arguments)],
            cwd=self.folder, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how},
        )  # fmt: skip

    def test_a_store_on_anything_but_a_regular_file_is_refused_and_nothing_is_touched(self):
        names = self.make_special_files()
        (self.folder / "notes.txt").write_text("somebody needs these")
        (self.folder / "notes.txt").chmod(0o644)
        before = listing(self.folder)
        for name in [*names, "notes.txt"]:
            with self.subTest(name):
                done = self.run_in_folder("serve", "--cluster", f"file:{DUMP}", "--store", name)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn("name a file" if "folder" in name else "another", done.stderr)
                self.assertEqual(listing(self.folder), before)
        self.assertEqual((self.folder / "notes.txt").read_text(), "somebody needs these")

    def test_a_dump_is_served_without_a_file(self):
        for store in (None, "none"):
            with self.subTest(store=store):
                daemon = Daemon(None, self.folder / "log", flags=["--cluster", f"file:{DUMP}"], store=store)
                here = self.folder / f"here-{store}"
                here.mkdir()
                with contextlib.chdir(here), daemon:
                    call = {"Pod": waiting_pod(), "Nodes": None, "NodeNames": ["a100-1", "a100-2"]}
                    self.assertEqual(daemon.post("/v1/extender/filter", json.dumps(call))[0], 200)
                    wait(lambda: json.loads(daemon.get("/v1/decisions")[1])["items"], 10, "the row of the call")
                    for resource in ("history", "portraits", "models"):
                        self.assertEqual(daemon.get(f"/v1/{resource}")[0], 200)
                    status, text = daemon.get("/readyz?verbose", port=daemon.metrics_port, accept="text/plain")
                    self.assertEqual(status, 200, text)
                    self.assertIn("store_in_memory", daemon.process.tail(50))
                    self.assertEqual(list(here.iterdir()), [])
                    self.assertEqual(daemon.stop(), 0)
                self.assertEqual(list(here.iterdir()), [])

    def test_a_certificate_of_its_own_needs_a_store_that_is_a_file(self):
        done = self.run_in_folder(
            "serve", "--store", "none", "--kubeconfig", self.kubeconfig(), "--listen-extender", ":0", "--listen-api",
            "127.0.0.1:0", "--listen-metrics", "127.0.0.1:0",
        )  # fmt: skip
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, "listeners.extender: .*store none writes none: give the listener TLS files")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["kubeconfig"])

    def kubeconfig(self):
        path = self.folder / "kubeconfig"
        path.write_text(
            "{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: "
            "'http://127.0.0.1:1'}}], contexts: [{name: c, context: {cluster: c, user: u}}], users: [{name: u, user: {}}]}"
        )
        return path

    def writers(self):
        """Every command that writes a file, with its option: arguments whose last is the file."""
        samples = self.folder / "samples.csv"
        samples.write_text(
            "model,gpu_type,batch,placement,throughput_samples_per_s\n"
            + "".join(f"m,K80,{batch},1x1,{batch / (0.1 + 0.002 * batch)}\n" for batch in (8, 16, 32, 64))
        )
        play = ["simulate", "--generate", "paper000", "--rate", "4", "--hours", "1", "--seed", "1",
                "--profile", ROOT / "manifests/profiles/k80.json", "--platform", "4x4"]  # fmt: skip
        one = [*play, "--policy", "fifo"]
        fit = ["fit", samples, "--holdout", "none"]
        return [
            *([*one, option] for option in ("--report", "--events", "--timeline", "--write-trace")),
            [*play, "--compare", "fifo,savable", "--table"],
            *([*fit, option] for option in ("--out", "--report", "--svg", "--samples-out")),
        ]

    def test_a_preset_reads_measured_curves_from_a_folder(self):
        sets = self.folder / "data/pollux-t4/small"
        sets.mkdir(parents=True)
        rows = "".join(f"{row},{0.9 - 0.8 / (row + 1)}\n" for row in range(40))
        (sets / "validation-1.csv").write_text("progress,metric\n" + rows)
        (sets / "placements.csv").write_text("not,read\n")
        report = self.folder / "report.json"
        play = [slackline_binary(), "simulate", "--preset", "paper003", "--curves", "real", "--jobs", "20", "--seeds", "0",
                "--restart", "30", "--compare", "fair,hysteresis,loss-greedy,trades", "--report", report]  # fmt: skip
        reports = []
        for more, shared in (["--curve-files", sets], self.folder / "none"), ([], self.folder):
            environment = {**os.environ, "SLACKLINE_SHARED": str(shared)}
            done = subprocess.run([*play, *more], env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            reports.append(json.loads(report.read_text())["policies"])
        self.assertEqual(reports[0], reports[1])
        self.assertEqual([row["name"] for row in reports[0]], ["fair", "hysteresis", "loss-greedy", "trades"])
        self.assertLess(reports[0][3]["to90_ratio"], 1)
        done = subprocess.run([*play, "--curve-files", self.folder / "none"], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"{self.folder}/none holds no validation-*.csv", done.stderr)

    def test_a_preset_that_does_not_exist_is_told_those_that_do(self):
        play = [slackline_binary(), "simulate", "--preset", "nosuch"]
        done = subprocess.run(play, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("paper003", done.stderr)

    def test_a_preset_reads_a_profile_of_the_shared_folder(self):
        play = [
            slackline_binary(),
            "simulate",
            "--preset",
            "paper002",
            "--rate",
            "2",
            "--seeds",
            "0",
            "--compare",
            "fifo",
        ]
        environment = {**os.environ, "SLACKLINE_SHARED": str(self.folder)}
        done = subprocess.run(play, env=environment, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"{self.folder}/golden/profile_k80.json", done.stderr)
        (self.folder / "golden").mkdir()
        profile = (ROOT / "tests/contract/golden/simulator/profile_k80.json").read_text()
        (self.folder / "golden/profile_k80.json").write_text(profile)
        done = subprocess.run(play, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("fifo", done.stdout)

    def test_what_is_written_to_a_device_or_a_fifo_arrives_and_the_device_stays_as_it_was(self):
        self.make_special_files()
        for arguments in self.writers():
            with self.subTest(arguments[-1]):
                file = self.folder / "file"
                done = self.run_in_folder(*arguments, file)
                self.assertEqual(done.returncode, 0, done.stderr)
                written = file.read_bytes()
                self.assertTrue(written)
                file.unlink()
                before = listing(self.folder)
                got = []
                reader = threading.Thread(target=lambda got=got: got.append((self.folder / "fifo").read_bytes()))
                reader.start()
                done = self.run_in_folder(*arguments, "link-to-fifo")
                reader.join(10)
                self.assertEqual((done.returncode, got), (0, [written]), done.stderr)
                self.assertEqual(listing(self.folder), before)
                for refusing in ("folder", "socket"):
                    self.assertEqual(self.run_in_folder(*arguments, refusing).returncode, 3)
                if "null" in before:
                    self.assertEqual(self.run_in_folder(*arguments, "null").returncode, 0)
                    full = self.run_in_folder(*arguments, "full")
                    self.assertIn("cannot write full: No space left on device", full.stderr)
                self.assertEqual(listing(self.folder), before)

    def test_a_report_to_standard_output_follows_what_is_there(self):
        arguments = self.writers()[0]
        to_pipe = self.run_in_folder(*arguments, "/dev/stdout").stdout
        self.assertRegex(to_pipe, r"(?s)\{.*\}")
        log = self.folder / "log"
        log.write_text("what was there before\n")
        with open(log, "a") as appended:
            done = self.run_in_folder(*arguments, "/dev/stdout", stdout=appended)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(log.read_text(), "what was there before\n" + to_pipe)


if __name__ == "__main__":
    unittest.main()
