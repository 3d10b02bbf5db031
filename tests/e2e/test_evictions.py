"""The preempt verb beside kube-scheduler alone: the same generated cases, the work that each makes others lose."""

import unittest

from support.controlplane import ControlPlane
from support.evictions import generate, play

CASES, SEED = 40, 7


class Evictions(unittest.TestCase):
    def test_preemption_loses_a_quarter_less_and_in_no_case_more(self):
        cases = generate(CASES, SEED)
        with ControlPlane(kubelets=False) as cluster:
            stock, ours, later_s = play(cluster, cases)
        for case in cases:
            with self.subTest(case.name):
                lost = case.lost_gpu_h(ours[case.name], later_s)
                self.assertLessEqual(lost, case.lost_gpu_h(stock[case.name], later_s) + 1 / 60)
                self.assertLessEqual(case.violations(ours[case.name]), case.violations(stock[case.name]))
        lost, before = (sum(case.lost_gpu_h(of[case.name], later_s) for case in cases) for of in (ours, stock))
        self.assertLessEqual(lost, 0.75 * before)


if __name__ == "__main__":
    unittest.main()
