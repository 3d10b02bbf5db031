"""What families of tasks use, kept on a real control plane: portraits of runs that ended, over
crashes and damaged files, and from one daemon to another."""

import csv
import io
import json
import unittest

from support.active_case import ActiveCase
from support.daemon import slackline
from support.objects import waiting_job

FAMILY = {"slackline.dev/family": "nightly"}


def of_image(image, job):
    job["spec"]["template"]["spec"]["containers"][0]["image"] = image
    return job


def decisions(daemon):
    """Of its journal, without the numbers that each replica gives them itself, and where the pod was bound: that may be
    seen between two answers."""
    rows = json.loads(daemon.get("/v1/decisions?limit=1000")[1])["items"]
    return {json.dumps({**row, "id": 0, "outcome": None}) for row in rows}


class PortraitStoreTest(ActiveCase):
    @classmethod
    def setUpClass(cls):
        cls.make_cluster(nodes=3)
        cls.start_planning(cls.account)

    def test_a_family_has_a_portrait_that_outlives_crashes_and_damage(self):
        broken = waiting_job("nightly-broken", gpus=2, annotations=FAMILY)
        broken["spec"]["activeDeadlineSeconds"] = 2
        runs = [waiting_job(f"nightly-{i}", gpus=2, duration="4s", annotations=FAMILY) for i in range(3)]
        trial = of_image("alpine:3.22", waiting_job("trial-x7k2p", gpus=1, duration="2s"))
        self.cluster.apply([*runs, broken, trial])
        self._wait_runs({"nightly": 4, "trial": 1})
        [nightly] = self._portraits("/nightly")
        self.assertEqual((nightly["namespace"], nightly["gpuType"], nightly["gpus"]), ("default", "K80", 2))
        self.assertEqual((nightly["succeeded"], nightly["failed"]), (3, 1))
        self.assertAlmostEqual(nightly["meanRunSeconds"], 4, delta=3)
        self.assertGreaterEqual(nightly["meanWaitSeconds"], 0)
        self.assertEqual(nightly["level"], 5, "nothing was measured")
        [time] = nightly["runTimes"]
        self.assertEqual((time["gpuType"], time["gpus"], time["runs"]), ("K80", 2, 3))
        self._check_the_command_line()
        self._check_the_next_run_is_foretold()

        known = self._portraits("?packed=true")
        self.cluster.wait(lambda: self.daemon.total("slackline_portraits") == 2, 10, "both to be counted")
        self.daemon.kill()
        self.daemon.start()
        self._wait_runs({"nightly": 4, "trial": 1})
        self.assertEqual(self._portraits("?packed=true"), known, "the listed Jobs are told again")

        store = self.daemon.config.parent / "slackline.portraits.db"
        self.daemon.kill()
        for suffix in ("-wal", "-shm"):
            store.with_name(store.name + suffix).unlink(missing_ok=True)
        store.write_bytes(b"x" * 8192)
        self.daemon.start()
        self.assertIn("[+]portraits-stored ok\n", self.daemon.get("/readyz?verbose")[1])
        self.assertEqual(self.daemon.total("slackline_portrait_store_damaged", outcome="restored"), 1)
        self._wait_runs({"nightly": 4, "trial": 1})
        self.assertEqual(self._portraits("?packed=true"), known, "its mirror had everything")

        self._check_that_an_empty_replica_takes_them(known)

    def _check_that_an_empty_replica_takes_them(self, known):
        follower = self.replica("b", self.account)
        follower.config.write_text(
            follower.config.read_text() + f"store: {{copyFrom: {{url: '{self.daemon.api_url}'}}}}\n"
        )
        decided = decisions(self.daemon)
        self.assertGreater(len(decided), 5)
        follower.start()
        self.addCleanup(follower.kill)
        log = follower.config.parent / "slackline.log"
        self.cluster.wait(lambda: "copied what=history" in log.read_text(), 20, "both to be copied")
        self.assertEqual(json.loads(follower.get("/v1/portraits?packed=true")[1])["items"], known)

        def ended(daemon):
            """Without the Job that was deleted while it ran: it may be told of before or after the copy. One that
            failed may have been seen to fail at two times."""
            rows = json.loads(daemon.get("/v1/history")[1])["items"]
            told = {row["uid"]: row for row in rows if row["outcome"] != "deleted"}
            return {uid: row if row["outcome"] == "succeeded" else row["name"] for uid, row in told.items()}

        self.cluster.wait(lambda: "copied what=decisions" in log.read_text(), 20, "the decisions to be copied")
        self.assertEqual(decided - decisions(follower), set())
        self.assertEqual(len(ended(self.daemon)), 5)
        self.assertEqual(ended(follower), ended(self.daemon))

    def _check_the_command_line(self):
        ask = ["portraits", "-s", self.daemon.api_url]
        self.assertIn("nightly", slackline(*ask))
        self.assertNotIn("IMAGE", slackline(*ask))
        self.assertIn("IMAGE", slackline(*ask, "-o", "wide"))
        rows = list(csv.DictReader(io.StringIO(slackline(*ask, "-o", "csv"))))
        self.assertEqual([(row["family"], row["runs"]) for row in rows], [("nightly", "4"), ("trial", "1")])
        self.assertNotIn("trial", slackline(*ask, "default/nightly"))
        before = self._portraits()
        for form in ("json", "csv"):
            packed = self.daemon.config.parent / f"packed.{form}"
            packed.write_text(slackline(*ask, "--packed", "-o", form))
            slackline(*ask, "default/nightly", "--delete")
            self.assertEqual([each["name"] for each in self._portraits()], ["trial"])
            self.assertIn("stored 2 portraits", slackline(*ask, "--import", str(packed)))
            self.assertEqual(self._portraits(), before)

    def _check_the_next_run_is_foretold(self):
        """It says nothing of its length; its family's runs took four seconds."""
        self.cluster.apply([waiting_job("long", pods=3, gpus=4, duration="600s", gang=True)])
        self.cluster.wait(lambda: self.bound("long") == 3, 30, "the cluster to be full")
        self.cluster.apply([
            waiting_job("nightly-next", gpus=2, annotations=FAMILY), waiting_job("same-image", gpus=2),
            of_image("busybox:1.38", waiting_job("newer-image", gpus=2)),
            of_image("debian:13", waiting_job("unheard-of", gpus=2)),
        ])  # fmt: skip
        queue = lambda: {row["name"]: row for row in json.loads(self.daemon.get("/v1/queue")[1])["items"]}  # noqa: E731
        waiting = ["nightly-next", "same-image", "newer-image", "unheard-of"]
        self.cluster.wait(lambda: set(waiting) <= set(queue()), 30, "all to wait")
        self.cluster.wait(lambda: "predictedFinish" in queue().get("newer-image", {}), 30, "a forecast")
        rows = queue()
        self.assertEqual(rows["nightly-next"]["lengthSource"], "history")
        self.assertEqual(rows["same-image"]["lengthSource"], "history", "as much was asked for by others")
        self.assertEqual(rows["newer-image"]["lengthSource"], "similar", "its first run, of the same repository")
        self.assertIn("predictedFinish", rows["newer-image"])
        self.assertNotIn("lengthSource", rows["unheard-of"])
        self.assertNotIn("predictedFinish", rows["unheard-of"])
        table = json.loads(self.daemon.get("/v1/tasks/default/nightly-next/placements")[1])
        self.assertIn("by what the family's own runs took", json.dumps(table))
        table = json.loads(self.daemon.get("/v1/tasks/default/newer-image/placements")[1])
        self.assertIn("a guess, by what the most similar runs", json.dumps(table))
        self.cluster.kubectl("delete", "job", "long", *waiting, "--wait=false")

    def _portraits(self, rest=""):
        return json.loads(self.daemon.get("/v1/portraits" + rest)[1])["items"]

    def _wait_runs(self, runs):
        known = lambda: {each["name"]: each["runs"] for each in self._portraits()}  # noqa: E731
        self.cluster.wait(lambda: known() == runs, 60, f"the portraits to have {runs}")


if __name__ == "__main__":
    unittest.main()
