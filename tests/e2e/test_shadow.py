"""Shadow mode on a real control plane: kube-scheduler goes its own way, nothing is written, and the
daemon says what the planner would have done and which deadlines it would have met."""

import json
import os

from support.active import POLICY
from support.active_case import GPUS_PER_NODE, ActiveCase
from support.browser import Browser
from support.controlplane import DAEMON_USER, gpu_scheduler_config
from support.daemon import Daemon, slackline
from support.objects import gang, gpu_pod


def stock_job(name, duration_s, deadline_s):
    """A Job that nobody suspends: it takes the whole node."""
    job = gang(name, 1, gpus=GPUS_PER_NODE, duration=f"{duration_s}s")
    job["metadata"]["annotations"] = {
        "slackline.dev/expected-duration": f"{duration_s}s",
        "slackline.dev/deadline-after": f"{deadline_s}s",
    }
    return job


class ShadowTest(ActiveCase):
    @classmethod
    def setUpClass(cls):
        cls.make_cluster(nodes=1)
        cls.daemon = Daemon(cls.account, cls.cluster.directory / "shadow", "shadow",
                            settings=f'planner: {{policy: "{POLICY}"}}\n')  # fmt: skip
        cls.cluster.adopt(cls.daemon.process, "slackline")
        cls.daemon.start()
        cls.scheduler_config = gpu_scheduler_config(cls.cluster, cls.daemon.extender_url)
        cls.cluster.start_scheduler(cls.scheduler_config)

    def start_daemon(self):
        """It leads nothing."""

    def _deadlines(self, real, result):
        return self.daemon.total("slackline_shadow_deadlines_total",
                                 queue="default", real=real, result=result)  # fmt: skip

    def _events_of(self, job):
        return [event for event in self.events(job) if event["reason"] in ("Queued", "DeadlineAtRisk")]

    def _tell_where_a_key_allows_it(self):
        config = self.daemon.config
        beside = config.with_suffix(".new")
        beside.write_text(config.read_text().replace("planner: {", "planner: {shadowEvents: true, "))
        os.replace(beside, config)
        self.cluster.wait(
            lambda: self.daemon.total("slackline_config_reloads_total", result="loaded") >= 1, 20, "the key to count"
        )
        self.cluster.apply([gpu_pod("again", gpus=GPUS_PER_NODE, duration="60s")])
        self.cluster.wait(lambda: self.bound("again") == 1, 20, "the node to be full again")
        self.cluster.apply([stock_job("told", 12, deadline_s=600)])

        def told():
            return {event["reason"]: event["message"] for event in self._events_of("told")}.get("Queued")

        said = self.cluster.wait(told, 20, "the Event of a Job that waits")
        self.assertRegex(said, "^if Slackline planned: starts .* waits for 4 ")

    def _report_of_both(self):
        report = json.loads(self.daemon.get("/v1/reports/shadow")[1])
        return report if report["total"]["compared"] == 2 else None

    def _look_at_the_page(self):
        browser = Browser(self.daemon.api_url)
        self.addCleanup(browser.close)
        browser.go("shadow")
        browser.wait_text("Deadlines won")
        self.assertRegex(browser.text(".figures"), r"Met, as it was\s+50 %\s+Met, with Slackline\s+100 %")
        self.assertIn("default/tight 1x4 K80 on node-0", browser.text(".events"))
        self.assertIn("Shadow mode", browser.text("#notes"))
        browser.screenshot("live-shadow")
        self.assertEqual(browser.problems() + browser.axe(), [])

    def test_it_tells_which_deadlines_it_would_have_met_and_writes_nothing(self):
        self.cluster.apply([gpu_pod("filler", gpus=GPUS_PER_NODE, duration="6s")])
        self.cluster.wait(lambda: self.bound("filler") == 1, 20, "the node to be full")
        # kube-scheduler takes the one that came first; the other could be in time.
        self.cluster.apply([stock_job("easy", 12, deadline_s=600)])
        self.cluster.wait(lambda: "easy" in self.waiting(), 10, "it to be in the queue")
        self.cluster.apply([stock_job("tight", 3, deadline_s=17)])
        self.cluster.wait(
            lambda: list(self.waiting().items())
            == [("tight", "WaitsItsTurn"), ("easy", "WaitsItsTurn")],
            10, "the queue that the planner would have",
        )  # fmt: skip
        self.assertIn("nothing is released", slackline("queue", "-s", self.daemon.api_url))

        self.cluster.wait(lambda: self._deadlines("missed", "met") == 1, 60, "tight to be judged")
        self.cluster.wait(lambda: self._deadlines("met", "met") == 1, 60, "easy to be judged")
        rows = json.loads(self.daemon.get("/v1/decisions?verb=plan")[1])["items"]
        self.assertEqual([row["name"] for row in rows], ["easy", "tight"], "the newest first")
        for row in rows:
            self.assertEqual(row["result"], "would start: 1x4 K80 on node-0")
            self.assertTrue(row["policy"].endswith("-shadow"), row["policy"])
        self.assertIn("would start", slackline("decisions", "--verb", "plan", "-s", self.daemon.api_url))
        self.assertEqual(self.daemon.total("slackline_shadow_starts_total"), 2)
        report = self.cluster.wait(self._report_of_both, 20, "both to be compared")
        # kube-scheduler took easy first: tight waited for it. The planner turns that round.
        self.assertEqual((report["total"]["deadlines"], report["total"]["inTime"]), (2, 0.5))
        self.assertEqual((report["total"]["shadowInTime"], report["total"]["inTimeGain"]), (1, 0.5))
        self.assertGreater(report["total"]["waitSavedSeconds"], 0)
        self.assertNotIn("waitSavedSecondsLow", report["total"], "one day tells no interval")
        said = slackline("shadow-report", "-s", self.daemon.api_url)
        self.assertIn("2 of 2 are compared", said)
        self.assertIn("2 deadlines: 50.0 % met, by the planner 100.0 %; +50.0 points", said)
        self._look_at_the_page()
        # Forecasts of that queue were scored against what happened.
        self.assertEqual(self.daemon.total("slackline_forecast_error_seconds_count", of="finish"), 2)

        self.assertEqual(self.writes() + self._events_of("easy") + self._events_of("tight"), [])
        self._tell_where_a_key_allows_it()
        self.assertEqual(self.writes(), [])
        elected = [
            event
            for event in self.cluster.audit()
            if event["user"]["username"] == DAEMON_USER
            and event.get("objectRef", {}).get("resource") == "leases"
            and event["verb"] in ("create", "update", "patch")
        ]
        self.assertEqual(elected, [])
