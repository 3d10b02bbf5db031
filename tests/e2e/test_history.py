"""What became of Jobs on a real control plane: `slackline history` and the metrics of outcomes, over
restarts of the daemon."""

import csv
import io
import json
import unittest

from support.active_case import ActiveCase
from support.daemon import slackline
from support.objects import waiting_job

COMPLETED = "slackline_jobs_completed_total"
WAITS = "slackline_admission_wait_time_seconds_count"


def _lasting(seconds, deadline_after):
    return {
        "gpus": 4,
        "duration": f"{seconds}s",
        "deadline_after": deadline_after,
        "annotations": {"slackline.dev/expected-duration": f"{seconds}s"},
    }


class HistoryTest(ActiveCase):
    @classmethod
    def setUpClass(cls):
        cls.make_cluster(nodes=3)
        cls.start_planning(cls.account)

    def test_what_became_of_jobs_outlives_restarts(self):
        waits = self.daemon.total(WAITS)  # of the other test
        broken = waiting_job("broken", gpus=1, deadline_after="1h")
        broken["spec"]["activeDeadlineSeconds"] = 2
        self.cluster.apply([
            waiting_job("intime", **_lasting(5, "1h")), waiting_job("late", **_lasting(9, "3s")), broken,
        ])  # fmt: skip
        self._wait_history({"intime", "late", "broken"})
        rows = self._history()
        self.assertEqual({name: (row["outcome"], row["result"]) for name, row in rows.items()}, {
            "intime": ("succeeded", "met"), "late": ("succeeded", "missed"), "broken": ("failed", "missed"),
        })  # fmt: skip
        row = rows["intime"]
        self.assertEqual((row["queue"], row["qosClass"], row["gpuType"], row["gpus"]),
                         ("default", "normal", "K80", 4))  # fmt: skip
        self.assertEqual(row["predictedSeconds"], 5)
        self.assertAlmostEqual(row["durationSeconds"], 5, delta=3)
        self.assertAlmostEqual(row["gpuHours"], 4 * row["durationSeconds"] / 3600, delta=4 * 2 / 3600)
        self.assertNotIn("predictedSeconds", rows["broken"], "nobody said how long it would run")
        self.assertEqual(self.daemon.total(COMPLETED, deadline="met", queue="default"), 1)
        self.assertEqual(self.daemon.total(COMPLETED, deadline="missed"), 1)
        self.assertEqual(self.daemon.total("slackline_jobs_failed_total"), 1)
        self.assertEqual(self.daemon.total(WAITS) - waits, 3)
        self._check_the_command_line()

        self.cluster.apply([waiting_job("meanwhile", **_lasting(8, "1h"))])
        self.cluster.wait(lambda: self.bound("meanwhile") == 1, 30, "the Job to run")
        self.cluster.wait(lambda: self.daemon.total("slackline_journal_queued_rows") == 0, 10,
                          "the journal to be written")  # fmt: skip
        self.daemon.kill()
        self.cluster.wait(lambda: self._complete("meanwhile"), 30, "the Job to end while nobody looks")
        self.daemon.start()
        self._wait_history({"intime", "late", "broken", "meanwhile"})
        row = self._history()["meanwhile"]
        self.assertEqual((row["result"], row["gpuType"], row["predictedSeconds"]), ("met", "K80", 8))
        self.assertAlmostEqual(row["durationSeconds"], 8, delta=3)
        self.assertEqual(self.daemon.total(COMPLETED), 1, "the others were counted in its earlier life")
        self.assertEqual(self.daemon.total("slackline_jobs_failed_total"), 0)

    def test_gpus_are_counted_as_the_cluster_shows_them(self):
        self.cluster.apply([waiting_job("holder", gpus=3)])
        self.cluster.wait(lambda: self.bound("holder") == 1, 30, "the Job to run")
        self.assertEqual(self.daemon.total("slackline_gpus", gpu_type="K80", state="total"), 12)
        self.cluster.wait(lambda: self.daemon.total("slackline_gpus", state="used") == 3, 10,
                          "three GPUs to be used")  # fmt: skip
        self.assertEqual(self.daemon.total("slackline_gpus", gpu_type="K80", state="free"), 9)
        self.assertEqual(self.daemon.total("slackline_build_info", mode="active"), 1)
        self.assertGreater(self.daemon.total("process_resident_memory_bytes"), 1e6)

    def _check_the_command_line(self):
        ask = ["history", "-s", self.daemon.api_url]
        self.assertIn("default/late", slackline(*ask))
        self.assertNotIn("STARTED", slackline(*ask))
        self.assertIn("STARTED", slackline(*ask, "-o", "wide"))
        [newest] = csv.DictReader(io.StringIO(slackline(*ask, "--limit", "1", "-o", "csv")))
        self.assertEqual((newest["name"], newest["result"]), ("default/late", "missed"))
        self.assertNotIn("default/late", slackline(*ask, "-n", "elsewhere"))
        self.assertIn("default/late", slackline(*ask, "late"))
        self.assertNotIn("default/late", slackline(*ask, "default/intime"))
        self.assertIn("default/late", slackline(*ask, "--queue", "default", "--since", "10m"))
        self.assertNotIn("default/late", slackline(*ask, "--since", "2100-01-01T00:00:00Z"))
        status, text = self.daemon.get("/v1/history?since=yesterday")
        self.assertEqual(status, 400)
        self.assertIn("expected a duration such as 24h", text)

    def _history(self):
        """Without what the other test has deleted."""
        rows = json.loads(self.daemon.get("/v1/history")[1])["items"]
        return {row["name"]: row for row in rows if row["outcome"] != "deleted"}

    def _wait_history(self, names):
        self.cluster.wait(lambda: set(self._history()) == names, 60, f"the history to have {names}")

    def _complete(self, job):
        status = self.cluster.get("job", "default", job)["status"]
        return any(each["type"] == "Complete" for each in status.get("conditions", []))


if __name__ == "__main__":
    unittest.main()
