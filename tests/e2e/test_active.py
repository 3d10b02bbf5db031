"""Active mode on a real control plane: Jobs wait suspended, are planned, and start through the stock
kube-scheduler. The Jobs come as the webhook leaves them: suspended by Slackline, their pods gated."""

import time
import unittest

from support.active_case import GPUS_PER_NODE, ActiveCase
from support.daemon import slackline
from support.objects import gpu_pod, gpus_by_node, name_of, node_of, phase_of, waiting_job
from support.patience import patient


class ActiveTest(ActiveCase):
    @classmethod
    def setUpClass(cls):
        cls.make_cluster(nodes=4)
        cls.start_planning(cls.account)

    def test_a_job_costs_three_writes_and_runs_where_it_was_planned(self):
        before = len(self.writes())
        self.cluster.apply([waiting_job("train", gpus=2)])
        (pod,) = self.cluster.wait_bound("train", 1)
        plan = self.plan("train")
        self.assertEqual([node_of(pod)], plan["nodes"])
        self.assertEqual(plan["shape"], "1x2")
        writes = [
            f"{event['verb']} {event['objectRef']['resource']}/{event['objectRef'].get('subresource', '')}"
            for event in self.writes()[before:]
        ]
        self.assertEqual(writes, ["patch jobs/", "patch pods/status", "patch pods/"])
        self.cluster.wait(lambda: self._reasons("train") >= {"Planned"}, 10, "the Event")

    def test_the_earlier_deadline_goes_first(self):
        soon_over = {"slackline.dev/expected-duration": "10s"}  # else b-soon is predicted to be late
        self.cluster.apply([
            gpu_pod(f"filler-{i}", gpus=4, duration="10s", annotations=soon_over) for i in range(4)
        ])  # fmt: skip
        self.cluster.wait(lambda: self.bound("filler") == 4, 30, "the cluster to be full")
        shape = {"pods": 4, "gpus": 4, "gang": True, "duration": "2s"}
        notes = {"slackline.dev/expected-duration": "10m"}
        for name, deadline_after in (("a-late", "9h"), ("b-soon", "1h")):
            job = waiting_job(name, deadline_after=deadline_after, annotations=notes, **shape)
            self.cluster.apply([job])
        self.cluster.wait(lambda: len(self.waiting()) == 2, 10, "both to queue")
        self.assertEqual(list(self.waiting()), ["b-soon", "a-late"])
        self.cluster.wait_bound("a-late", 4, timeout=60)
        late, soon = self._released_at("a-late"), self._released_at("b-soon")
        self.assertLess(soon, late)

    def test_a_gang_starts_whole_against_a_flood_of_single_gpu_pods(self):
        flood = [gpu_pod(f"flood-{i:03}", duration="1s") for i in range(120)]
        self.cluster.apply(flood[:40])
        self.cluster.apply([waiting_job("gang", pods=4, gpus=4, gang=True, duration="2s")])
        for start in range(40, 120, 16):
            self.cluster.apply(flood[start : start + 16])
            self._assert_gang_is_whole_or_gated("gang", 4)
        self.cluster.wait_bound("gang", 4, timeout=90)
        nodes = {node_of(pod) for pod in self.cluster.pods_of("gang")}
        self.assertEqual(len(nodes), 4)
        self.cluster.wait(lambda: self._done("flood") == 120, 120, "the flood to drain")

    def test_killed_in_the_middle_of_releases_it_goes_on(self):
        waves, at_once = 5, 8  # what the nodes hold: each kill leaves a wave to be released
        jobs = [waiting_job(f"many-{i:02}", gpus=2, duration="2s") for i in range(waves * at_once)]
        self.cluster.apply(jobs)
        for _ in range(waves - 1):
            done = self._finished("many")
            self.cluster.wait(lambda seen=done: self._finished("many") > seen, 60, "progress")
            self.daemon.kill()
            self.daemon.start()
        self.cluster.wait(lambda: self._finished("many") == len(jobs), 180, "all Jobs to finish")
        names = [name_of(pod) for pod in self.pods() if name_of(pod).startswith("many")]
        self.assertEqual(len(names), len(jobs), "every Job ran once")
        self.assert_nothing_left_over()

    def test_of_two_replicas_the_other_goes_on_within_20_seconds(self):
        other = self.replica("b", self.account).start()
        self.assertEqual(other.total("slackline_leader"), 0)
        self.daemon.kill()
        killed = time.monotonic()
        self.cluster.apply([waiting_job("after", gpus=4)])
        self.cluster.wait_bound("after", 1, timeout=30)
        self.assertLess(time.monotonic() - killed, patient(20))
        self.assertEqual(other.total("slackline_leader"), 1)
        other.stop()

    def test_a_node_lost_between_plan_and_bind_is_replaced(self):
        self.cluster.apply([gpu_pod(f"busy-{i}", gpus=4) for i in range(2)])
        self.cluster.wait(lambda: self.bound("busy") == 2, 30, "two nodes to be full")
        self.cluster.kill("kube-scheduler")
        self.addCleanup(self.restart_scheduler)
        self.cluster.apply([waiting_job("mover", gpus=4)])
        self.cluster.wait(lambda: self.plan("mover"), 20, "it to be planned")
        (lost,) = self.plan("mover")["nodes"]
        self.cluster.kubectl("cordon", lost)
        self.addCleanup(self.cluster.kubectl, "uncordon", lost)
        self.cluster.wait(lambda: self.plan("mover") and self.plan("mover")["nodes"] != [lost], 60, "a new plan")
        self.restart_scheduler()
        (pod,) = self.cluster.wait_bound("mover", 1, timeout=60)
        self.assertNotEqual(node_of(pod), lost)

    def test_without_any_planner_release_gives_everything_back(self):
        self.cluster.apply([gpu_pod(f"wall-{i}", gpus=4) for i in range(4)])
        self.cluster.wait(lambda: self.bound("wall") == 4, 30, "the cluster to be full")
        jobs = [waiting_job("held", gpus=2), waiting_job("pair", pods=2, gpus=4, gang=True)]
        self.cluster.apply(jobs)
        command = ["release", "--kubeconfig", self.account, "--if-lease-older-than"]
        self.assertIn("a planner is running", slackline(*command, "1m"))
        self.daemon.kill()
        time.sleep(2)  # so old is the Lease then, at least; below it must be older than a second
        before = [event["requestURI"] for event in self.writes()]
        shown = slackline("release", "--kubeconfig", self.account, "--dry-run")
        self.assertIn("would release Job default/held\n", shown)
        self.assertIn("would release Job default/pair\n", shown)
        self.assertEqual([event["requestURI"] for event in self.writes()], before)
        self.assertIn("released 2 Jobs and 3 pods", slackline(*command, "1s"))
        for job in self.cluster.list("job", "default"):
            self.assertFalse(job["spec"]["suspend"], name_of(job))
            self.assertNotIn("slackline.dev/suspended-by", job["metadata"]["annotations"])
        waiting = self.cluster.pods_of("held") + self.cluster.pods_of("pair")
        self.assertEqual(len(waiting), 3)
        for pod in waiting:
            self.assertFalse(pod["spec"].get("schedulingGates"), name_of(pod))
            self.assertFalse(pod["status"].get("nominatedNodeName"), name_of(pod))

    # ---- words the tests are written in --------------------------------------------------------

    def _released_at(self, job):
        return next(
            event["requestReceivedTimestamp"]
            for event in self.writes()
            if event["objectRef"]["resource"] == "jobs" and event["objectRef"]["name"] == job
        )

    def _reasons(self, job):
        return {event["reason"] for event in self.events(job)}

    def _done(self, prefix):
        return sum(phase_of(pod) == "Succeeded" and name_of(pod).startswith(prefix) for pod in self.pods())

    def _finished(self, prefix):
        return sum(
            job["status"].get("succeeded", 0)
            for job in self.cluster.list("job", "default")
            if name_of(job).startswith(prefix)
        )

    def _assert_gang_is_whole_or_gated(self, job, size):
        pods = self.cluster.pods_of(job)
        lifted = [pod for pod in pods if not pod["spec"].get("schedulingGates")]
        if lifted:
            self.assertEqual(len(pods), size)
        self.assertLessEqual(max(gpus_by_node(self.pods()).values(), default=0), GPUS_PER_NODE)


if __name__ == "__main__":
    unittest.main()
