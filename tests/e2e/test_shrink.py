"""A running Job gives half of its GPUs to a task that would be late, and gets them back: on a real control plane."""

import json
import unittest

from support.active_case import GPUS_PER_NODE, ActiveCase
from support.daemon import slackline
from support.objects import gpus_of, waiting_job

PROTECT_S = 5
STARTUP_S = 30  # of resnet50 on a K80, as manifests/profiles has it: before that no work is done
TRAIN = {
    "slackline.dev/model": "resnet50",
    "slackline.dev/batch-size": "64",
    "slackline.dev/iterations": "200000",
    "slackline.dev/checkpoint-interval": "1s",
    "slackline.dev/placements": f"1x{GPUS_PER_NODE}",
}
SOON = {"slackline.dev/expected-duration": "20s"}


class ShrinkTest(ActiveCase):
    policy = f"default,shrink=on,protect={PROTECT_S},headroom=0,calm=0"

    @classmethod
    def setUpClass(cls):
        cls.make_cluster(nodes=1)
        cls.start_planning(cls.account)

    def test_a_job_shrinks_for_another_task_and_grows_back(self):
        self.cluster.apply([waiting_job("train", gpus=GPUS_PER_NODE, duration="60s", annotations=TRAIN)])
        self.cluster.wait_bound("train")
        self.assertEqual(self._gpus("train"), GPUS_PER_NODE)
        self.cluster.wait_older(STARTUP_S + 2)
        half = GPUS_PER_NODE // 2
        shapes = f"slackline.dev/placements=1x{GPUS_PER_NODE},1x{half}"
        self.cluster.kubectl("annotate", "job", "train", "-n", "default", "--overwrite", shapes)
        soon = waiting_job("soon", gpus=half, duration="8s", deadline_after="60s", annotations=SOON)
        self.cluster.apply([soon])

        self.cluster.wait_bound("soon", timeout=10)
        self.cluster.wait(lambda: self._gpus("train") == half, 10, "the Job to go on with half of its GPUs")
        self.assertEqual(self.bound("soon"), 1, "beside who asked")
        note = self._note("train")
        self.assertEqual(note["count"], 1)
        self.assertLess(note["left"], 1)
        self.assertEqual((note["goesOn"]["shape"], note["goesOn"]["from"]), (f"1x{half}", f"1x{GPUS_PER_NODE}"))
        self.cluster.wait(lambda: "Shrunk" in self._reasons("train"), 10, "the Event")

        self.cluster.wait(lambda: self._gpus("train") == GPUS_PER_NODE, 40, "the Job to have its GPUs back")
        self.assertEqual(self.bound("soon"), 0, "who asked is over")
        self.cluster.wait(lambda: "Grown" in self._reasons("train"), 10, "the Event")
        self.assertEqual(self._note("train")["count"], 2)
        told = slackline("decisions", "--verb", "suspend", "-s", self.daemon.api_url)
        self.assertIn(f"shrunk from 1x{GPUS_PER_NODE} to 1x{half} for default/soon", told)
        self.assertIn(f"grown from 1x{half} to 1x{GPUS_PER_NODE}, ends", told)
        self.cluster.wait(lambda: self._finished("train"), 90, "the Job to finish")

    # ---- words ----------------------------------------------------------------------------------

    def _gpus(self, job):
        """That its pods hold on nodes now; those that end count too."""
        return sum(gpus_of(pod) for pod in self.cluster.pods_of(job) if pod["spec"].get("nodeName") and not _ended(pod))

    def _note(self, job):
        notes = self.cluster.get("job", "default", job)["metadata"]["annotations"]
        return json.loads(notes.get("slackline.dev/preemptions", "null"))

    def _reasons(self, job):
        return {event["reason"] for event in self.events(job)}

    def _finished(self, job):
        conditions = self.cluster.get("job", "default", job).get("status", {}).get("conditions", [])
        return any(each["type"] == "Complete" and each["status"] == "True" for each in conditions)


def _ended(pod):
    return pod["status"].get("phase") in ("Succeeded", "Failed")


if __name__ == "__main__":
    unittest.main()
