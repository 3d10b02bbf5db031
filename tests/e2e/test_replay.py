"""`slackline replay` on a real Prometheus that scrapes what kube-state-metrics says of a small cluster."""

import csv
import io
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

from support.daemon import slackline_binary
from support.exporter import Exporter, Prometheus

HOUR = 3600


class Cluster(Exporter):
    """One node of four A100; `pods` are (name, Job, GPUs, created, bound, completed), times in seconds from now."""

    def __init__(self, pods):
        self.now = time.time()
        self.pods = pods
        super().__init__()

    def kube_state_metrics(self):
        families = {
            "kube_node_status_allocatable": ['{node="n1",resource="nvidia_com_gpu",unit="integer"} 4'],
            "kube_node_labels": ['{node="n1",label_nvidia_com_gpu_product="NVIDIA-A100-SXM4-80GB"} 1'],
        }

        def say(family, labels, value):
            families.setdefault(family, []).append(f"{{{labels}}} {value:.0f}")

        for name, job, gpus, created, bound, completed in self.pods:
            of_pod = f'namespace="ml",pod="{name}",uid="u-{name}"'
            of_gpus = f'{of_pod},container="main",resource="nvidia_com_gpu",unit="integer"'
            say("kube_pod_container_resource_requests", f'{of_gpus},node="{"n1" if bound is not None else ""}"', gpus)
            say("kube_pod_owner", f'{of_pod},owner_kind="Job",owner_name="{job}",owner_is_controller="true"', 1)
            say("kube_pod_created", of_pod, self.now + created)
            if bound is not None:
                say("kube_pod_status_scheduled_time", of_pod, self.now + bound)
            if completed is not None:
                say("kube_pod_completion_time", of_pod, self.now + completed)
            for phase in ("Running", "Succeeded", "Failed"):
                ended = phase == "Succeeded" and completed is not None
                say("kube_pod_status_phase", f'{of_pod},phase="{phase}"', ended)
        for job, created in {pod[1]: pod[3] for pod in self.pods}.items():
            say("kube_job_created", f'namespace="ml",job_name="{job}"', self.now + created)
        # A CPU Job among them: it must not be asked for.
        say("kube_job_created", 'namespace="ml",job_name="cpu"', self.now)
        lines = []
        for family, samples in families.items():
            lines += [f"# HELP {family} As kube-state-metrics.", f"# TYPE {family} gauge"]
            lines += [family + sample for sample in samples]
        return "\n".join(lines) + "\n"


@unittest.skipUnless(shutil.which("prometheus"), "no prometheus on this machine")
class ReplayTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = pathlib.Path(folder.name)

    def serve(self, pods):
        cluster = Cluster(pods)
        self.addCleanup(cluster.close)
        server = Prometheus(cluster, self.directory / "prometheus", honor_labels=True).start()
        self.addCleanup(server.kill)
        server.wait_scraped(2)
        return cluster, server

    def replay(self, server, *arguments, exit_code=0):
        done = subprocess.run(
            [slackline_binary(), "replay", "--prometheus", server.url, "--since", "2h", "--step", "1s", *arguments],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, exit_code, done.stderr + done.stdout)
        return done

    def test_the_past_is_played_in_stock_order_and_under_default(self):
        # "big" waits for all four GPUs behind "first"; "small" really waited for "big", as in a strict queue.
        cluster, server = self.serve(
            [
                ("first-0", "first", 2, -6000, -6000, -5000),
                ("big-0", "big", 2, -5990, -5000, -4000),
                ("big-1", "big", 2, -5990, -5000, -4000),
                ("small-0", "small", 1, -5980, -4000, -3500),
                ("deleted-0", "deleted", 1, -600, -600, None),
                ("runs-0", "runs", 1, -300, -300, None),
                ("waits-0", "waits", 4, -100, None, None),
            ]
        )
        cluster.pods = [pod for pod in cluster.pods if pod[0] != "deleted-0"]
        time.sleep(5)  # the end of the deleted pod is older than two steps
        jobs = self.directory / "jobs.csv"
        done = self.replay(
            server, "--deadlines", "2", "--compare", "fifo,fifo/skip,default", "-o", "csv", "--out", jobs
        )
        rows = {row["policy"]: row for row in csv.DictReader(io.StringIO(done.stdout))}
        self.assertEqual(list(rows), ["(recorded)", "fifo", "fifo/skip", "default"])
        self.assertEqual(rows["(recorded)"]["max_wait_h"], f"{1980 / HOUR:.2f}")
        self.assertEqual(rows["fifo"]["max_wait_h"], f"{1980 / HOUR:.2f}")
        self.assertEqual(rows["fifo/skip"]["max_wait_h"], f"{990 / HOUR:.2f}")
        self.assertEqual(rows["fifo/skip"]["in_time_%"], "100.0")
        for row in rows.values():
            self.assertAlmostEqual(float(row["gpu_h"]), 6500 / HOUR + 900 / HOUR, delta=0.1)
        for said in (
            "5 Jobs from ",
            "The platform is 1x4:A100",
            "1 Jobs waited and never ran",
            "1 Jobs still run",
            "1 pods were deleted while they ran",
            "assumed: fifo/skip is how kube-scheduler serves",
        ):
            self.assertIn(said, done.stderr)
        kept = list(csv.DictReader(io.StringIO(jobs.read_text())))
        self.assertEqual([row["job"] for row in kept], ["first", "big", "small", "deleted", "runs"])
        self.assertEqual((kept[1]["num_gpus"], kept[1]["pods"], kept[1]["duration"]), ("4", "2", "1000"))
        again = subprocess.run(
            [slackline_binary(), "backtest", "--trace", jobs],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        self.assertEqual(again.returncode, 0, again.stderr)
        table = self.replay(server)
        self.assertIn("assumed: DUE", table.stdout)
        self.assertEqual(table.stdout.count("(recorded)"), 2, "one for each deadline")

    def test_what_is_missing_is_said_with_what_to_do(self):
        cluster, server = self.serve([])
        said = self.replay(server, exit_code=4).stderr
        self.assertIn(server.url, said)
        self.assertIn("no pod with GPUs in the last 2h", said)
        said = self.replay(server, "--cluster-label", "none", exit_code=4).stderr
        self.assertIn("let this Prometheus scrape kube-state-metrics", said)
        said = self.replay(server, "--deadlines", "0.5", exit_code=3).stderr
        self.assertIn("write up to 10 multiples of the run time", said)
        server.kill()
        said = self.replay(server, exit_code=3).stderr
        self.assertIn(server.url, said)
        self.assertIn("(the query was: max by (", said)


if __name__ == "__main__":
    unittest.main()
