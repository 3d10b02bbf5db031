"""A queue whose running tasks are stopped for nobody, until it says otherwise: on a real control plane."""

import json
import time
import unittest

from support.active_case import GPUS_PER_NODE, ActiveCase
from support.objects import waiting_job

PROTECT_S = 3
LONG = {"slackline.dev/expected-duration": "10m", "slackline.dev/checkpoint-interval": "1s"}
SOON = {"slackline.dev/expected-duration": "20s"}
WHY = "NotPreemptible"


class PreemptibleTest(ActiveCase):
    policy = f"default,protect={PROTECT_S}"
    settings = "queues: [{name: default, preemption: {preemptible: false}}]\n"  # a namespace is a queue

    @classmethod
    def setUpClass(cls):
        cls.make_cluster(nodes=1)
        cls.start_planning(cls.account)

    def test_who_may_not_be_stopped_runs_on_until_the_queue_allows_it(self):
        self.cluster.apply([waiting_job("long", gpus=GPUS_PER_NODE, duration="30s", annotations=LONG)])
        self.cluster.wait_bound("long", 1)
        self.cluster.wait_older(PROTECT_S)
        soon = waiting_job("soon", gpus=GPUS_PER_NODE, deadline_after="60s", annotations=SOON, duration="2s")
        self.cluster.apply([soon])
        self.cluster.wait(lambda: self.waiting().get("soon") == "WaitsItsTurn", 10, "it to wait its turn")
        time.sleep(3)  # in which nothing may happen
        self.assertEqual(self.bound("long"), 1)
        self.assertNotIn("slackline.dev/preemptions", self._notes("long"))
        self.assertEqual({row["name"]: row.get("spared") for row in self.queue()}, {"long": WHY, "soon": None})
        nodes = json.loads(self.daemon.get("/v1/nodes")[1])["items"]
        self.assertEqual(sum(node["sparedGpus"] for node in nodes), GPUS_PER_NODE)
        self.assertEqual(self.daemon.total("slackline_spared_gpus", reason=WHY), GPUS_PER_NODE)

        settings = self.daemon.config.read_text().replace("preemptible: false", "preemptible: true")
        self.daemon.config.write_text(settings)
        self.cluster.wait_bound("soon", 1, timeout=15)
        self.assertEqual(json.loads(self._notes("long")["slackline.dev/preemptions"])["count"], 1)

    def _notes(self, job):
        return self.cluster.get("job", "default", job)["metadata"]["annotations"]


if __name__ == "__main__":
    unittest.main()
