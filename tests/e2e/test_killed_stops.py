"""The planner dies right after one of the writes by which a gang gets the room of others: on a real control plane.

$DEADLY names the writes, counted from the first stop; `make nightly` takes every one.
"""

import os
import unittest

from support.active_case import GPUS_PER_NODE, ActiveCase
from support.api_proxy import ApiProxy
from support.ledger import GpuLedger
from support.objects import waiting_job

NODES, PROTECT_S, GRACE_S = 2, 3, 6
# Of two stops, a release, two nominations and two lifts: after the first, half of the room is made.
DEADLY = [int(write) for write in os.environ.get("DEADLY", "1").split()]
LONG = {"slackline.dev/expected-duration": "10m", "slackline.dev/checkpoint-interval": "1s"}
SOON = {"slackline.dev/expected-duration": "60s"}


class KilledStopsTest(ActiveCase):
    policy = f"default,protect={PROTECT_S},headroom=0,calm=0"

    @classmethod
    def setUpClass(cls):
        cls.make_cluster(nodes=NODES)
        cls.proxy = ApiProxy(cls.cluster)
        cls.addClassCleanup(cls.proxy.close)
        cls.start_planning(cls.proxy.kubeconfig(cls.account))

    def test_the_next_life_completes_the_room_and_stops_nobody_twice(self):
        for deadly in DEADLY:
            with self.subTest(deadly=deadly):
                try:
                    self._die_after(deadly)
                finally:
                    self.clean_up()

    def _die_after(self, deadly):
        names = [f"long-{deadly}-{index}" for index in range(NODES)]
        gang = f"gang-{deadly}"
        with GpuLedger(self.cluster) as ledger:
            self.cluster.apply([_job(name, 1, LONG) for name in names])
            self.cluster.wait(lambda: self.bound("long") == NODES, 30, "the cluster to be full")
            self.cluster.wait_older(PROTECT_S)
            self.proxy.after_write(deadly, self.daemon.kill)
            self.cluster.apply([_job(gang, NODES, SOON, deadline_after="300s")])
            try:
                self.cluster.wait(lambda: not self.daemon.process.alive(), 60, "the planner to die")
            finally:
                self.proxy.let_live()
            self.start_daemon()
            self.cluster.wait(lambda: self.bound(gang) == NODES, 60, "the gang to run")
            self.let_finish(gang, 1)
            self.let_finish("long", NODES)
        self.assertEqual(ledger.stops(), dict.fromkeys(names, 1))
        self.assertEqual(ledger.bound(gang), NODES, "it ran once")
        self.assertEqual(ledger.given_twice(GPUS_PER_NODE), [])


def _job(name, pods, notes, **more):
    """Its pods run until they are told to end."""
    job = waiting_job(name, pods, GPUS_PER_NODE, gang=pods > 1, annotations=notes, **more)
    job["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = GRACE_S
    return job


if __name__ == "__main__":
    unittest.main()
