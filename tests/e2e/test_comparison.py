"""60 Jobs of the paper's mix on 4 x 4 GPUs: with Slackline, with the stock scheduler alone, and in
the simulator. About six minutes."""

import unittest

from support.comparison import run_active, run_stock, table, verdict
from support.controlplane import ControlPlane
from support.trace import GPU_TYPE, GPUS_PER_NODE, NODES, make_trace

POINTS = 5  # that live and simulated may differ


class ComparisonTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ControlPlane()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.add_gpu_nodes(NODES, GPUS_PER_NODE, GPU_TYPE)
        cls.trace = make_trace(cls.cluster.directory)
        cls.stock = run_stock(cls.cluster, cls.trace)
        cls.active, cls.daemon = run_active(cls.cluster, cls.trace)
        cls.simulated = cls.trace.simulate(cls.active.startup_s)
        print(*table(cls.stock, cls.active, cls.simulated), sep="\n", flush=True)
        print(verdict(cls.stock, cls.active), flush=True)

    def test_every_job_finishes_and_no_gpu_is_given_twice(self):
        for run in (self.stock, self.active):
            self.assertEqual(len(run.rows), len(self.trace.tasks))
            self.assertEqual(run.overcommitted, [])

    def test_slackline_meets_more_deadlines(self):
        self.assertGreater(self.active.met, self.stock.met)

    def test_the_simulator_foretells_the_run(self):
        live = 100 * self.active.met_share
        self.assertAlmostEqual(live, self.simulated["q_no_urgent"], delta=POINTS)

    def test_every_job_runs_in_the_shape_that_was_planned(self):
        reshaped = 0
        for task in self.trace.tasks:
            log = self.active.logs[task.name]
            nodes, gpus = map(int, log.plan["shape"].split("x"))
            self.assertEqual(len(log.pods), nodes, task.name)
            self.assertEqual(sorted(pod.node for pod in log.pods), sorted(log.plan["nodes"]))
            for pod in log.pods:
                self.assertEqual(pod.gpus, gpus, task.name)
                self.assertEqual(pod.env["SLACKLINE_NODES"], str(nodes))
                self.assertEqual(pod.env["SLACKLINE_GPUS_PER_NODE"], str(gpus))
                self.assertEqual(pod.env["PET_NNODES"], str(nodes))
                self.assertEqual(pod.env["PET_NPROC_PER_NODE"], str(gpus))
            reshaped += (nodes, gpus) != task.written
        self.assertGreater(reshaped, 10, "the planner chose hardly any shape")

    def test_nothing_deviates_and_no_right_is_missing(self):
        released = [log.released_at for log in self.active.logs.values()]
        self.assertTrue(all(released), "a Job started that was never released")
        metrics = self.daemon.metrics()
        bad = {
            dict(labels)["result"]: count
            for (name, labels), count in metrics.items()
            if name == "slackline_own_writes_total" and dict(labels)["result"] in ("forbidden",)
        }
        self.assertEqual(bad, {})


if __name__ == "__main__":
    unittest.main()
