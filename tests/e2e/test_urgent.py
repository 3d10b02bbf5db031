"""A full cluster gives way to an urgent gang that needs all of it: installed with the webhook, on a real control plane."""

import unittest

from support.active import start_active
from support.controlplane import ControlPlane
from support.ledger import GpuLedger
from support.objects import DURATION, TEAM, gpu_job
from support.patience import patient
from support.runlog import RunLog
from support.watch import Watch

NODES, GPUS_PER_NODE = 4, 4
PROTECT_S, GRACE_S = 3, 4
POLICY = f"default,protect={PROTECT_S},headroom=0,calm=0"
LONG = {"expected-duration": "10m", "checkpoint-interval": "1s"}
RUNS = {"pair": (2, GPUS_PER_NODE), "whole": (1, GPUS_PER_NODE)} | {f"small-{i}": (1, 1) for i in range(GPUS_PER_NODE)}


class UrgentTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ControlPlane()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.add_gpu_nodes(NODES, GPUS_PER_NODE, "K80")
        start_active(cls.cluster, TEAM, policy=POLICY)

    def test_an_urgent_gang_of_the_whole_cluster_starts_at_once_and_who_gave_way_finishes(self):
        log = RunLog(GPUS_PER_NODE)
        ledger = GpuLedger(self.cluster, TEAM)
        pods, jobs = (
            Watch(self.cluster, kind, TEAM, saw) for kind, saw in (("pod", log.saw_pod), ("job", log.saw_job))
        )
        with ledger, pods, jobs:
            self.cluster.apply([_job(name, *shape, "15s", **LONG) for name, shape in RUNS.items()])
            self.cluster.wait(lambda: self._bound(log, RUNS), 60, "the cluster to be full")
            self.cluster.wait_older(PROTECT_S, TEAM)
            notes = {"qos-class": "urgent", "expected-duration": "1m"}
            self.cluster.apply([_job("gang", NODES, GPUS_PER_NODE, "3s", **notes)])
            self.cluster.wait(lambda: self._bound(log, ["gang"]), 60, "the gang to run")
            seen = log.jobs()
            stopped_at = [seen[name].stopped_at for name in RUNS]
            self.assertEqual([len(times) for times in stopped_at], [1] * len(RUNS))
            self.assertLessEqual(seen["gang"].bound_at - min(map(min, stopped_at)), GRACE_S + patient(5))
            for name in [*RUNS, "gang"]:
                self.cluster.wait(lambda name=name: self._finished(name), 60, f"{name} to finish")
        self.assertEqual(ledger.stops(), dict.fromkeys(RUNS, 1))
        self.assertEqual(ledger.given_twice(GPUS_PER_NODE), [])

    # ---- words ----------------------------------------------------------------------------------

    @staticmethod
    def _bound(log, names):
        return all(log.jobs().get(name) and log.jobs()[name].bound_at for name in names)

    def _finished(self, name):
        status = self.cluster.get("job", TEAM, name).get("status", {})
        held = {each["type"] for each in status.get("conditions", []) if each["status"] == "True"}
        self.assertNotIn("Failed", held, name)
        return "Complete" in held


def _job(name, pods, gpus, duration, **notes):
    """Fails with its first failure, and takes all of its grace period to end."""
    job = gpu_job(name, gpus, pods, annotations=notes, spec={"backoffLimit": 0}, scheduler="gpu-scheduler")
    template = job["spec"]["template"]
    template["metadata"]["annotations"] = {DURATION: duration}
    template["spec"]["terminationGracePeriodSeconds"] = GRACE_S
    return job


if __name__ == "__main__":
    unittest.main()
