"""The preempt verb beside kube-scheduler alone: the same generated cases, the work that each makes others lose."""

import time
import unittest

from support.controlplane import ControlPlane, stock_scheduler_config
from support.evictions import clear, evict, generate, lay_out
from support.rates import LIMITS, lead, start_daemon, start_extended_scheduler

CASES, SEED = 40, 7


class Evictions(unittest.TestCase):
    def test_preemption_loses_a_quarter_less_and_in_no_case_more(self):
        cases = generate(CASES, SEED)
        with ControlPlane(kubelets=False) as cluster:
            lay_out(cluster, cases)
            cluster.start_scheduler(stock_scheduler_config(cluster, **LIMITS))
            stock = evict(cluster, cases)
            cluster.kill("kube-scheduler")
            clear(cluster)
            laid_out = lay_out(cluster, cases)
            daemon = start_daemon(cluster)
            lead(cluster, daemon)
            start_extended_scheduler(cluster, daemon)
            later_s = time.time() - laid_out
            ours = evict(cluster, cases)
            self.assertGreaterEqual(daemon.total("slackline_extender_requests_total", verb="preempt"), CASES)
        for case in cases:
            with self.subTest(case.name):
                lost = case.lost_gpu_h(ours[case.name], later_s)
                self.assertLessEqual(lost, case.lost_gpu_h(stock[case.name], later_s) + 1 / 60)
                self.assertLessEqual(case.violations(ours[case.name]), case.violations(stock[case.name]))
        lost, before = (sum(case.lost_gpu_h(of[case.name], later_s) for case in cases) for of in (ours, stock))
        self.assertLessEqual(lost, 0.75 * before)


if __name__ == "__main__":
    unittest.main()
