"""Running tasks that would gain by going on elsewhere are advised to, or moved: on a real control plane."""

import json
import time
import unittest

from support.active_case import GPUS_PER_NODE, ActiveCase
from support.browser import Browser
from support.daemon import Daemon, slackline
from support.objects import node_of, waiting_job

PROTECT_S = 3
SLOW_AFTER_S = 3
TOTAL = 1000  # iterations, in ten minutes
NOTES = {"slackline.dev/expected-duration": "10m", "slackline.dev/checkpoint-interval": "1s"}


class MovesCase(ActiveCase):
    policy = f"default,protect={PROTECT_S},headroom=0,calm=0"
    rescheduling = "advise"

    @classmethod
    def setUpClass(cls):
        cls.make_cluster(nodes=3)
        cls.start_planning(cls.account)

    @classmethod
    def replica(cls, name, account):
        settings = f'planner: {{policy: "{cls.policy}", slowAfter: {SLOW_AFTER_S}s}}\n'
        settings += f"queue: {{rescheduling: {cls.rescheduling}}}\n"
        daemon = Daemon(account, cls.cluster.directory / name, "active", settings=settings)
        cls.cluster.adopt(daemon.process, f"slackline {name}")
        return daemon

    # ---- words ----------------------------------------------------------------------------------

    def _run(self, *names, duration="15s", gpus=GPUS_PER_NODE):
        self.cluster.apply([waiting_job(name, gpus=gpus, duration=duration, annotations=NOTES) for name in names])
        for name in names:
            self.cluster.wait_bound(name, 1)

    def _node(self, job):
        (pod,) = self.cluster.pods_of(job)
        return node_of(pod)

    def _report(self, job, iteration):
        """As the daemon notes what the Job told it, without waiting for its minute."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        note = f"slackline.dev/progress={iteration}/{TOTAL} at {now}"
        self.cluster.kubectl("annotate", "job", job, "--overwrite", note)

    def _be_slow(self, *jobs):
        """At a third of the predicted speed."""
        time.sleep(1)  # the start is a whole second
        for iteration in (0, 1, 2):
            for job in jobs:
                self._report(job, iteration)
            time.sleep(2)  # its pace

    def _advice(self, job):
        return next((row.get("move") for row in self.queue() if row["name"] == job), None)

    def _reasons(self, name):
        return {event["reason"] for event in self.events(name)}

    def _note(self, job):
        notes = self.cluster.get("job", "default", job)["metadata"]["annotations"]
        return json.loads(notes.get("slackline.dev/preemptions", "null"))

    def _drawn(self, bar):
        """In the timeline of the page, with the sign of moves."""
        browser = Browser(self.daemon.api_url)
        self.addCleanup(browser.close)
        browser.go("timeline?span=1h")
        browser.wait(f"document.querySelector('{bar}')?.innerText.startsWith('⇄')", 10, f"{bar} to be drawn")

    def _finished(self, job):
        conditions = self.cluster.get("job", "default", job).get("status", {}).get("conditions", [])
        return any(each["type"] == "Complete" and each["status"] == "True" for each in conditions)


class AdviseTest(MovesCase):
    def test_a_slow_run_is_advised_to_move_and_stays(self):
        self._run("slow", "fine", duration="20s")
        self._be_slow("slow")
        self.cluster.wait(lambda: "MoveSuggested" in self._reasons("slow"), 10, "the Event")
        (event,) = [each for each in self.events("slow") if each["reason"] == "MoveSuggested"]
        self.assertIn("% of the predicted speed; move default/slow from " + self._node("slow"), event["message"])
        row = next(row for row in self.queue() if row["name"] == "slow")
        self.assertEqual(row["move"]["cause"], "slow")
        self.assertLess(row["move"]["speed"], 0.7)
        self.assertGreater(row["move"]["gainSeconds"] * GPUS_PER_NODE, row["move"]["lostGpuSeconds"])
        (move,) = row["move"]["moves"]
        self.assertEqual(move["from"], [self._node("slow")])
        self.assertNotIn(move["to"], ([self._node("slow")], [self._node("fine")]))
        self.assertIn("earlier", slackline("queue", "-o", "wide", "-s", self.daemon.api_url))
        self._drawn('.run.running[title*="may move to"]')
        self.cluster.wait(lambda: self._finished("slow"), 40, "it to finish where it is")
        self.assertIsNone(self._note("slow"))
        self.assertEqual(event["count"], 1)
        self.assertNotIn("MoveSuggested", self._reasons("fine"))


class SlowNodeTest(MovesCase):
    def test_a_node_on_which_three_tasks_were_slow_is_named_and_avoided(self):
        slower = {"slackline.dev/expected-duration": "2s"}
        nodes = set()
        for name in ("first", "second", "third"):
            self.assertNotIn("NodeSlow", self._node_reasons("node-0"))
            self.cluster.apply([waiting_job(name, gpus=GPUS_PER_NODE, duration="5s", annotations=slower)])
            (pod,) = self.cluster.wait_bound(name, 1)
            nodes.add(node_of(pod))
            self.cluster.wait(lambda name=name: self._finished(name), 30, f"{name} to finish")
        (slow,) = nodes
        self.cluster.wait(lambda: "NodeSlow" in self._node_reasons(slow), 10, "the Event")
        self.assertEqual(self.daemon.total("slackline_slow_nodes", node=slow), 1)
        self._run("elsewhere", duration="60s")
        self.assertNotEqual(self._node("elsewhere"), slow)
        self.daemon.kill()
        self.start_daemon()
        self._run("too", duration="60s")
        self.assertNotEqual(self._node("too"), slow, "the next life knows it, too")
        self._run("no-choice", duration="60s")
        self.assertEqual(self._node("no-choice"), slow)

    def _node_reasons(self, node):
        return {event["reason"] for event in self.events(node) if event["involvedObject"]["kind"] == "Node"}


class FragmentedTest(MovesCase):
    """Two nodes of which runs use a half each, and a task that waits for a whole one."""

    def test_a_run_gives_way_once_the_queue_says_so_and_goes_on_where_it_was_told(self):
        half = GPUS_PER_NODE // 2
        self._run("full", duration="90s")
        for name in ("a", "b", "c", "d"):
            self._run(name, duration="40s", gpus=half)
        stays = [("a", "b"), ("c", "d")]
        self.assertEqual([self._node(one) == self._node(other) for one, other in stays], [True, True])
        self.cluster.kubectl("delete", "job", "a", "c", "-n", "default")
        self.cluster.wait_older(PROTECT_S)
        self.cluster.apply([waiting_job("whole", gpus=GPUS_PER_NODE, duration="5s", annotations=NOTES)])

        self.cluster.wait(lambda: "MoveSuggested" in self._reasons("whole"), 10, "the Event")
        advice = self.cluster.wait(lambda: self._advice("whole"), 10, "the queue to say so")
        self.assertEqual(advice["cause"], "fragmented")
        (move,) = advice["moves"]
        moved = move["task"].removeprefix("default/")
        self.assertIn(moved, ("b", "d"))
        self.assertEqual(move["to"], [self._node("d" if moved == "b" else "b")])
        self.assertIsNone(self._note(moved))

        settings = self.daemon.config.read_text().replace("rescheduling: advise", "rescheduling: auto")
        self.daemon.config.write_text(settings)
        self.cluster.wait_bound("whole", 1, timeout=20)
        note = self._note(moved)
        self.assertEqual((note["count"], note["by"], note["goesOn"]["nodes"]), (1, "Moved", move["to"]))
        self.cluster.wait(lambda: "Moved" in self._reasons(moved), 10, "the Event")
        self.cluster.wait(lambda: self.bound(moved) == 1, 20, "it to go on")
        self.assertEqual([self._node(moved)], move["to"])
        self.cluster.wait(lambda: self._finished(moved), 60, "it to finish")


class AutoTest(MovesCase):
    rescheduling = "auto"

    def test_a_slow_run_is_moved_off_its_node_once_and_finishes(self):
        self._run("slow", duration="15s")
        before = self._node("slow")
        self._be_slow("slow")
        self.cluster.wait(lambda: self._note("slow"), 10, "it to be stopped")
        note = self._note("slow")
        self.assertEqual((note["count"], note["by"], note["slow"]["nodes"]), (1, "Moved", [before]))
        self.cluster.wait(lambda: "Moved" in self._reasons("slow"), 10, "the Event")
        self.cluster.wait(lambda: [node_of(pod) for pod in self.cluster.pods_of("slow")] not in ([], [None], [before]),
                          20, "it to run elsewhere")  # fmt: skip
        self.assertIn("moved (slow) for default/slow",
                      slackline("decisions", "--verb", "suspend", "-s", self.daemon.api_url))  # fmt: skip
        self.assertGreater(self.daemon.total("slackline_preemptions_total", reason="Moved"), 0)
        self._drawn('.run.stopped[title*="moved (slow)"]')
        self._be_slow("slow")  # there, too: it is slow itself
        self.cluster.wait(lambda: self._finished("slow"), 40, "it to finish")
        self.assertEqual(self._note("slow")["count"], 1)


if __name__ == "__main__":
    unittest.main()
