"""What Jobs use, from a real Prometheus that scrapes the exporters of pods that were really bound."""

import json
import pathlib
import shutil
import time
import unittest

from support.active_case import ActiveCase
from support.bound_pods import BoundPods
from support.browser import Browser
from support.daemon import slackline
from support.exporter import GIB, Exporter, Machine, Prometheus
from support.objects import waiting_job
from support.process import wait

STEP_S = 4  # four scrapes


@unittest.skipUnless(shutil.which("prometheus"), "no prometheus on this machine")
class PortraitsTest(ActiveCase):
    @classmethod
    def setUpClass(cls):
        cls.make_cluster(2)
        cls.exporter = Exporter()
        cls.addClassCleanup(cls.exporter.close)
        directory = pathlib.Path(cls.cluster.directory) / "prometheus"
        cls.prometheus = Prometheus(cls.exporter, directory, honor_labels=False).start()
        cls.addClassCleanup(cls.prometheus.kill)
        cls.prometheus.wait_scraped()
        cls.settings = f"telemetry: {{prometheus: {{url: '{cls.prometheus.url}'}}, step: {STEP_S}s}}\n"
        cls.use = {}
        cls.pods_seen = BoundPods(cls.cluster, cls.exporter, cls.use)
        cls.pods_seen.start()
        cls.addClassCleanup(cls.pods_seen.over.set)
        cls.start_planning(cls.account)

    def run_job(self, name, duration, use, **of_job):
        self.use[name] = use
        self.cluster.apply([waiting_job(name, duration=duration, **of_job)])

    def reads(self, of, result="ok"):
        return self.daemon.total("slackline_usage_reads_total", **{"pass": of, "result": result})

    def measured(self):
        return self.daemon.total("slackline_usage_tasks", gpus="measured")

    def checks(self):
        """The lines of readyz, which must be ready."""
        status, text = self.daemon.get("/readyz?verbose", port=self.daemon.metrics_port)
        self.assertEqual(status, 200, text)
        return text

    def usage_read(self, job):
        """What the log says of the usage of a run that is over, once it has been read."""
        log = self.daemon.config.parent / "slackline.log"

        def line():
            lines = [line for line in log.read_text().splitlines() if "run_usage_read" in line]
            return next((line for line in lines if f"default/{job}" in line), None)

        return wait(line, 60, f"the usage of {job}")

    def check_the_portrait(self, family):
        """Its windows: 45 % of the GPUs, 25 % of their memory, 2 cores, 1 GiB; at most a bucket more."""

        def portrait():
            items = json.loads(self.daemon.get(f"/v1/portraits/{family}")[1])["items"]
            return items[0] if items and items[0]["runs"] == 1 and items[0]["use"] else None

        use = {each["resource"]: each["median"] for each in wait(portrait, 30, "the portrait")["use"]}
        for resource, used in {"gpu": 0.45, "gpuMemory": 0.25, "cpu": 2, "memory": GIB}.items():
            self.assertGreaterEqual(use[resource], 0.9 * used, resource)
            self.assertLessEqual(use[resource], 1.15 * used, resource)

    def test_a_running_job_is_measured_and_then_its_whole_run(self):
        self.run_job("train", "25s", (45, 0.25, 2), gpus=2)
        self.run_job("other", "600s", (90, 0.5, 1), gpus=1)
        wait(lambda: self.measured() == 2, 60, "both Jobs to be measured")
        self.assertGreater(self.daemon.total("slackline_usage_last_answer_timestamp_seconds"), time.time() - 30)
        before = self.reads("run")
        line = self.usage_read("train")
        self.assertEqual(self.reads("run"), before + 1)
        self.assertIn("gpu=45%", line)
        self.assertIn("gpu_memory=25%", line)
        self.check_the_portrait("train")
        browser = Browser(self.daemon.api_url)
        self.addCleanup(browser.close)
        browser.go("task/default/train")
        browser.wait_text("What its family used")
        self.assertRegex(browser.text("main"), r"Family train: 1 run, 1 succeeded, 0 failed")
        browser.screenshot("live-portrait")
        self.assertEqual(browser.problems() + browser.axe(), [])
        wait(lambda: self.measured() == 1, 30, "only the other one to be left")
        self.assertIn("usage-measured ok\n", self.checks())

    def test_a_report_has_what_was_asked_for_held_and_measured(self):
        self.run_job("notebook", "600s", (0, 0.3, 0.1), gpus=1)
        self.run_job("half", "20s", (50, 0.25, 2), gpus=2, deadline_after="1h")
        self.usage_read("half")
        ask = ["report", "-s", self.daemon.api_url, "--by", "family"]

        def row():
            rows = json.loads(slackline(*ask, "-o", "json"))["items"]
            return next((one for one in rows if "owner=half" in one["group"] and "gpuUse" in one), None)

        one = wait(row, 30, "the use of the run to be in the report")
        self.assertEqual((one["runs"], one["succeeded"], one["deadlines"], one["deadlinesMet"]), (1, 1, 1, 1))
        self.assertAlmostEqual(one["gpuHours"], 2 * 20 / 3600, delta=2 * 6 / 3600)
        self.assertEqual(one["askedGpuHours"], one["gpuHours"])
        self.assertGreater(one["measuredGpuHours"], 0.5 * one["gpuHours"])
        self.assertAlmostEqual(one["gpuUse"], 0.5, delta=0.03)
        self.assertNotIn("returnableGpuHoursEstimate", one, "20 seconds are no evidence")
        self.assertIn("GPU USE %", slackline(*ask))
        self.assertIn("50", slackline(*ask, "-o", "md"))
        idle = lambda: json.loads(slackline(*ask, "-o", "json"))["idleNow"]  # noqa: E731
        [holder] = wait(idle, 90, "the Job that uses nothing to be named")
        self.assertEqual((holder["task"], holder["kind"], holder["gpus"]), ("default/notebook", "Job", 1))
        self.assertIn("Idle now: default/notebook (1 GPU for", slackline(*ask))
        page = slackline(*ask, "--compare-since", "1h", "-o", "html")
        self.assertIn("<svg", page)
        self.assertNotIn("<script", page)
        self._look_at_the_page()
        nothing = json.loads(slackline(*ask, "-n", "kube-system", "-o", "json"))
        self.assertEqual((nothing["items"], nothing["totals"][0]["runs"]), ([], 0))

    def _look_at_the_page(self):
        browser = Browser(self.daemon.api_url)
        self.addCleanup(browser.close)
        browser.go("report?by=family")
        browser.wait_text("What GPUs were used for")
        browser.wait_text("half", selector="main")
        self.assertRegex(browser.text(".figures"), r"Deadlines met\s+100 %\s+1 of 1")
        browser.screenshot("live-report")
        self.assertEqual(browser.problems() + browser.axe(), [])

    def test_the_load_of_nodes_and_its_balance_are_told(self):
        busy, idle = self.pods_seen.nodes
        self.exporter.machines = [Machine(busy, cores=32, memory=128 * GIB, received=1e6), Machine(idle)]
        self.addCleanup(self.exporter.machines.clear)

        def load(of):
            return self.daemon.total("slackline_node_load_ratio", resource=of)

        def told():
            halves = all(abs(load(of) - 0.25) < 0.01 for of in ("cpu", "memory"))
            return halves and load("gpu") == 0 and load("gpu_memory") == 0

        wait(told, 60, "half of one node, and nothing of the other")
        balance = self.daemon.total("slackline_cluster_load_balance_ratio")
        self.assertAlmostEqual(balance, 0.875, delta=0.01, msg="loads of 0.25 and 0: their deviation is 0.125")
        received = self.daemon.total("slackline_node_network_bytes_per_second", direction="received")
        self.assertAlmostEqual(received, 5e5, delta=2e4, msg="of cards alone")

    def test_only_the_leader_reads_and_a_follower_goes_on(self):
        self.run_job("long", "600s", (80, 0.3, 1), gpus=1)
        wait(lambda: self.measured() == 1, 60, "the Job to be measured")
        follower = self.replica("b", self.account).start()
        self.addCleanup(follower.kill)
        read = lambda: follower.total("slackline_usage_reads_total", **{"pass": "live", "result": "ok"})  # noqa: E731
        before = self.reads("live")
        wait(lambda: self.reads("live") >= before + 2, 30, "the leader to read two steps")
        self.assertEqual(read(), 0)
        self.daemon.kill()
        wait(lambda: read() > 0 and follower.total("slackline_usage_tasks", gpus="measured") == 1, 60, "the follower")

    def test_without_a_prometheus_jobs_run_and_what_was_missed_is_read_later(self):
        self.run_job("first", "600s", (50, 0.1, 1), gpus=1)
        wait(lambda: self.measured() == 1, 60, "the Job to be measured")
        self.prometheus.kill()
        failed = self.reads("live", "failed")
        wait(lambda: self.reads("live", "failed") > failed, 30, "a pass to fail")
        self.assertIn("usage-measured ok: Prometheus", self.checks())
        self.run_job("second", "5s", (70, 0.2, 1), gpus=1)
        self.cluster.wait(
            lambda: self.cluster.get("job", "default", "second")["status"].get("succeeded"), 60, "the Job to succeed"
        )
        wait(lambda: self.daemon.total("slackline_usage_runs_waiting") == 1, 30, "its run to wait")
        time.sleep(3 * STEP_S)  # in which nothing may happen
        self.assertEqual(self.daemon.total("slackline_usage_runs_waiting"), 1)
        self.prometheus.start()
        self.prometheus.wait_scraped()
        self.assertIn("gap=", self.usage_read("second"), "nobody scraped it: its gap is marked")
        wait(lambda: "usage-measured ok\n" in self.checks(), 60, "the problem to be over")
        wait(lambda: self.measured() == 1, 60, "the first Job to be measured again")
        self.assertEqual(self.daemon.total("slackline_usage_lost_total"), 0)


if __name__ == "__main__":
    unittest.main()
