"""Many Jobs make room at once, and whoever leads is killed in the middle, again and again: on a real control plane.

$STOPS and $KILLS make it longer (`make nightly`).
"""

import os
import time
import unittest

from support.active_case import GPUS_PER_NODE, ActiveCase
from support.bulk import create_all
from support.ledger import GpuLedger
from support.objects import priority_class, waiting_job
from support.process import wait

STOPS = int(os.environ.get("STOPS", "60"))
KILLS = int(os.environ.get("KILLS", "2"))
PROTECT_S = 2
LONG = {"slackline.dev/expected-duration": "10h", "slackline.dev/checkpoint-interval": "1s"}
SOON = {"slackline.dev/expected-duration": "600s"}
DEADLINE = "880s"  # they cannot wait, and are not too late while replicas take over
PRIORITIES = {"long": 100, "soon": 1000}  # so kube-scheduler would preempt too, if it were asked too early
GRACES_S = (1, 5, 20)  # the last is over only after another replica has taken over
TAKE_OVER_S = 25


class StopsAtOnceTest(ActiveCase):
    policy = f"default,protect={PROTECT_S},headroom=0,calm=0,budget=1000"

    @classmethod
    def setUpClass(cls):
        cls.make_cluster(nodes=STOPS // GPUS_PER_NODE)
        cls.cluster.apply([priority_class(*each) for each in PRIORITIES.items()])
        cls.start_planning(cls.account)
        cls.other = cls.replica("b", cls.account).start()

    def test_leaders_are_killed_and_every_job_makes_room_once_and_finishes(self):
        began = time.monotonic()
        with GpuLedger(self.cluster) as ledger:
            self._create("long", LONG)
            self.cluster.wait(lambda: ledger.bound("long") == STOPS, 120, "the cluster to be full")
            self.cluster.wait_older(PROTECT_S)
            asked = time.monotonic()
            self._create("soon", SOON, deadline_after=DEADLINE)
            at_kills = [self._kill_leader_after(STOPS * (kill + 1) // (KILLS + 1), ledger) for kill in range(KILLS)]
            self.cluster.wait(lambda: ledger.bound("soon") == STOPS, 120, "everybody who could not wait to run")
            ran = time.monotonic()
            self.assertEqual(ledger.stops(), dict.fromkeys(self._names("long"), 1), "one stop of each, for one each")
            self.let_finish("soon", STOPS)
            self.let_finish("long", STOPS)
        self.assertEqual(ledger.stops(), dict.fromkeys(self._names("long"), 1))
        self.assertEqual(ledger.bound("soon"), STOPS, "each ran once")
        self.assertEqual(ledger.bound("long"), 2 * STOPS, "each ran once more")
        self.assertEqual(ledger.given_twice(GPUS_PER_NODE), [])
        self.assertNotEqual(ledger.given_twice(GPUS_PER_NODE - 1), [], "the cluster was full")
        for stopped, bound in at_kills:
            self.assertLess(bound, STOPS, f"killed when all was over, after {stopped} stops")
        print(
            f"{STOPS} stops, the leader killed when (stopped, started) were {at_kills}: all run after {ran - asked:.0f} s,"
            f" all done after {time.monotonic() - began:.0f} s",
            flush=True,
        )

    # ---- words ----------------------------------------------------------------------------------

    @staticmethod
    def _names(prefix):
        return [f"{prefix}-{index:03}" for index in range(STOPS)]

    def _create(self, prefix, notes, **more):
        """Jobs of one GPU, whose pods run until they are told to end."""
        jobs = [waiting_job(name, annotations=notes, **more) for name in self._names(prefix)]
        for index, job in enumerate(jobs):
            grace_s = GRACES_S[index % len(GRACES_S)]
            job["spec"]["template"]["spec"].update(priorityClassName=prefix, terminationGracePeriodSeconds=grace_s)
        create_all(self.cluster, "job", "default", jobs)

    def _kill_leader_after(self, stops, ledger):
        """Kills whoever leads once so many Jobs have made room, starts it again; (stopped, started) then."""

        def leading():
            return next((each for each in (self.daemon, self.other) if each.total("slackline_leader")), None)

        leader = self.cluster.wait(leading, TAKE_OVER_S, "a replica to lead")
        wait(lambda: len(ledger.stops()) >= stops, TAKE_OVER_S, f"{stops} Jobs to make room", every=0.005)
        leader.kill()
        at_kill = len(ledger.stops()), ledger.bound("soon")
        leader.start()
        return at_kill


if __name__ == "__main__":
    unittest.main()
