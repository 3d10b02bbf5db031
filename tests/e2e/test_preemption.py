"""Running tasks make room for tasks that would be late, and come back: on a real control plane."""

import datetime
import json
import time
import unittest

from support.active_case import GPUS_PER_NODE, STOPS, ActiveCase
from support.daemon import slackline
from support.objects import name_of, phase_of, waiting_job

NODES = 4
PROTECT_S = 5
LONG = {"slackline.dev/expected-duration": "10m", "slackline.dev/checkpoint-interval": "1s"}
SOON = {"slackline.dev/expected-duration": "20s"}


def whole_node(name, **shape):
    """A Job whose pods take the GPUs of a node and, as people's do, most of its 64 CPUs."""
    job = waiting_job(name, gpus=GPUS_PER_NODE, **shape)
    resources = job["spec"]["template"]["spec"]["containers"][0]["resources"]
    for amounts in resources.values():
        amounts["cpu"] = "40"
    return job


class PreemptionCase(ActiveCase):
    policy = f"default,protect={PROTECT_S},headroom=0,calm=0"

    @classmethod
    def setUpClass(cls):
        cls.make_cluster(nodes=NODES)
        cls.start_planning(cls.account)

    # ---- words ----------------------------------------------------------------------------------

    def _fill(self, duration):
        """A Job that can wait on every node, since longer than it is protected."""
        jobs = [whole_node(f"long-{i}", duration=duration, annotations=LONG) for i in range(NODES)]
        self.cluster.apply(jobs)
        self.cluster.wait(lambda: self.bound("long") == NODES, 30, "the cluster to be full")
        self.cluster.wait_older(PROTECT_S)

    def _keep(self, *jobs):
        """No pod of these may be disrupted. Gone with the test."""
        label = "batch.kubernetes.io/job-name"
        selector = {"matchExpressions": [{"key": label, "operator": "In", "values": list(jobs)}]}
        self.keep_undisrupted(selector, minAvailable=len(jobs))

    @staticmethod
    def _soon(name, **shape):
        return whole_node(name, deadline_after="60s", annotations=SOON, duration="2s", **shape)

    def _note(self, job):
        notes = self.cluster.get("job", "default", job)["metadata"]["annotations"]
        return json.loads(notes.get("slackline.dev/preemptions", "null"))

    def _stopped(self):
        jobs = [job["metadata"] for job in self.cluster.list("job", "default")]
        return [job["name"] for job in jobs if "slackline.dev/preemptions" in job["annotations"]]

    def _stops(self):
        return sum(self._note(job)["count"] for job in self._stopped())

    def _reasons(self, job):
        return {event["reason"] for event in self.events(job)}

    def _finished(self, job):
        conditions = self.cluster.get("job", "default", job).get("status", {}).get("conditions", [])
        return any(each["type"] == "Complete" and each["status"] == "True" for each in conditions)


class PreemptionTest(PreemptionCase):
    def test_who_makes_room_comes_back_and_finishes(self):
        self._fill(duration="12s")
        self.cluster.apply([self._soon("soon")])
        self.cluster.wait_bound("soon", 1, timeout=10)
        (stopped,) = self._stopped()
        self.cluster.wait(lambda: stopped in self.waiting(), 10, "who made room to wait again")
        row = next(row for row in self.queue() if row["name"] == stopped)
        self.assertEqual(row["preemptions"], 1)
        self.assertLess(row["workLeft"], 1)
        note = self._note(stopped)
        self.assertEqual(note["count"], 1)
        self.assertLess(note["left"], 1, "its checkpoints keep what it has done")
        self.assertEqual(len(note["nodes"]), 1)
        self.cluster.wait(lambda: "Preempted" in self._reasons(stopped), 10, "the Event")
        self.cluster.wait(lambda: self._finished(stopped), 60, "who made room to finish")
        self.assertEqual(self._note(stopped)["count"], 1)
        self.assertIn(
            "stopped for default/soon", slackline("decisions", "--verb", "suspend", "-s", self.daemon.api_url)
        )
        self.assertGreater(self.daemon.total("slackline_lost_gpu_seconds_total"), 0)

    def test_nobody_is_stopped_for_a_task_that_can_wait(self):
        self._fill(duration="8s")
        self.cluster.apply([waiting_job("patient", gpus=4, deadline_after="9h", annotations=SOON, duration="1s")])
        self.cluster.wait(lambda: self._finished("patient"), 40, "its turn")
        self.assertEqual(self._stops(), 0)

    def test_killed_in_the_middle_of_stops_nobody_is_stopped_twice_and_all_finish(self):
        self._fill(duration="15s")
        gang = self._soon("gang", pods=NODES, gang=True)
        self.cluster.apply([gang])
        for _ in range(3):
            self.cluster.wait(lambda: self._stops() or self.bound("gang"), 10, "the first stop")
            self.daemon.kill()
            self.daemon.start()
        self.cluster.wait_bound("gang", NODES, timeout=60)
        names = [f"long-{i}" for i in range(NODES)]
        self.assertEqual(sorted(self._stopped()), names)
        for name in names:
            self.cluster.wait(lambda name=name: self._finished(name), 90, f"{name} to finish")
            self.assertEqual(self._note(name)["count"], 1)

    def test_a_disruption_budget_makes_another_job_the_victim(self):
        self._fill(duration="15s")
        self._keep("long-0", "long-1", "long-3")
        self.cluster.apply([self._soon("soon")])
        self.cluster.wait_bound("soon", 1, timeout=10)
        self.assertEqual(self._stopped(), ["long-2"])

    def test_where_disruption_budgets_forbid_every_stop_the_task_waits(self):
        self._fill(duration="12s")
        self._keep(*(f"long-{i}" for i in range(NODES)))
        self.cluster.apply([self._soon("soon")])
        self.cluster.wait(lambda: self.waiting().get("soon") == "WaitsItsTurn", 10, "it to wait its turn")
        self.cluster.wait(lambda: self._finished("soon"), 60, "its turn")
        self.assertEqual(self._stops(), 0)

    def test_a_lost_members_place_stays_its_gangs_while_others_wait_for_it_and_over_a_leaders_death(self):
        self._fill(duration="60s")
        notes = {"deadline_after": "90s", "annotations": SOON}
        self.cluster.apply([whole_node("gang", duration="5m", pods=NODES, gang=True, **notes)])
        self.cluster.wait(lambda: len(self._pods_of("gang")) == NODES, 20, "its pods, gated while others end")
        self._delete_one()
        self.cluster.wait(lambda: self.bound("gang") == NODES, 40, "it to run, once that pod is there again")
        self.assertEqual(len(self._stopped()), NODES)
        self._delete_one()
        self.daemon.kill()
        self.start_daemon()

        def whole_again():
            self.assertEqual(self._pods_of("long"), [], "who made room gets no part of a gang's place")
            return self.bound("gang") == NODES

        self.cluster.wait(whole_again, 60, "its replacement to run")

    def _delete_one(self):
        [name, *_] = sorted(map(name_of, self._pods_of("gang")))
        self.cluster.kubectl("delete", "pod", name, "-n", "default")

    def _pods_of(self, job):
        pods = [pod for pod in self.pods() if name_of(pod).startswith(job) and phase_of(pod) in ("Pending", "Running")]
        return [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]

    def _booked(self):
        """What the ConfigMap says of each stop, by the Job that was stopped."""
        book = self.cluster.get("configmap", *STOPS)
        lines = book["data"]["stops"].splitlines() if book else []
        return {stop["name"]: stop for stop in map(json.loads, lines)}

    def test_what_a_stop_costs_outlives_the_job_and_the_leader(self):
        self._fill(duration="60s")
        self.cluster.apply([self._soon("soon")])
        self.cluster.wait_bound("soon", 1, timeout=10)
        (stopped,) = self._stopped()
        booked = self._booked()[stopped]
        self.assertEqual((booked["account"], booked["asker"], booked["stop"]), ("default", "soon", 1))
        self.assertEqual(booked["uid"], self.cluster.get("job", "default", stopped)["metadata"]["uid"])
        self.assertGreater(booked["gpuSeconds"], 0)
        self.cluster.wait(lambda: self._finished("soon"), 30, "it to finish, so that nobody is stopped in vain")

        def spent():
            return 4 * 3600 - self.daemon.total("slackline_preemption_budget_gpu_seconds", queue="default")

        self.cluster.wait(lambda: abs(spent() - booked["gpuSeconds"]) < 0.01, 10, "the charge, once")
        self.cluster.kubectl("delete", "job", stopped, "-n", "default")
        self.daemon.kill()
        self.start_daemon()
        self.cluster.wait(lambda: spent() < 4 * 3600, 30, "the first plan")
        self.assertAlmostEqual(spent(), booked["gpuSeconds"], delta=0.01)

    def test_room_that_is_not_used_bars_its_account(self):
        self._fill(duration="60s")
        self.cluster.apply([self._soon("first")])
        self.cluster.wait(lambda: self._stops(), 10, "a stop")
        self.cluster.kubectl("delete", "job", "first", "-n", "default")
        self.cluster.wait(lambda: self.daemon.total("slackline_stops_in_vain_total") == 1, 5, "it to be noticed")
        later = ["second", "third"]  # there is room for one of them
        self.cluster.apply([self._soon(name) for name in later])
        self.cluster.wait(lambda: "PreemptionBudgetSpent" in [self.waiting().get(name) for name in later], 4, "the bar")
        self.assertEqual(self._stops(), 1)
        self.cluster.wait_bound("second", 1, timeout=20)
        self.cluster.wait_bound("third", 1, timeout=20)


class DisruptionBudgetFormsTest(PreemptionCase):
    LABEL = "batch.kubernetes.io/job-name"

    def _forms(self):
        def by(operator, **values):
            return {"matchExpressions": [{"key": self.LABEL, "operator": operator, **values}]}

        return {
            "labels": {"matchLabels": {self.LABEL: "long-0"}},
            "labels of another": {"matchLabels": {self.LABEL: "nobody"}},
            "in": by("In", values=["long-0", "nobody"]),
            "not in": by("NotIn", values=["long-0"]),
            "exists": by("Exists"),
            "does not exist": by("DoesNotExist"),
            "both": {"matchLabels": {self.LABEL: "long-0"}, **by("NotIn", values=["long-0"])},
            "empty": {},
            "none": None,
        }

    def _forget_budget(self):
        self.cluster.kubectl("delete", "pdb", "keep", "-n", "default", "--ignore-not-found")
        self.cluster.wait(
            lambda: self.daemon.total("slackline_cache_objects", resource="poddisruptionbudgets") == 0,
            10,
            "the last one to be gone",
        )

    def _would_evict(self, pod):
        eviction = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": pod, "namespace": "default"},
            "deleteOptions": {"dryRun": ["All"]},
        }
        path = f"{self.cluster.collection('pod', 'default')}/{pod}/eviction"
        status, reply = self.cluster.request("POST", path, eviction)
        self.assertIn(status, (201, 429), reply)
        return status == 201

    def test_a_run_is_spared_exactly_where_the_api_server_refuses_to_evict(self):
        self._fill(duration="10m")
        (pod,) = (pod["metadata"]["name"] for pod in self.pods() if pod["metadata"]["name"].startswith("long-0"))

        def spared():
            return next(row.get("spared", "") for row in self.queue() if row["name"] == "long-0")

        self.cluster.wait(lambda: spared() == "", 20, "it to be stoppable")
        refused = set()
        for form, selector in self._forms().items():
            with self.subTest(form):
                self._forget_budget()
                self.keep_undisrupted(selector, minAvailable=NODES)
                wanted = "" if self._would_evict(pod) else "DisruptionBudget"
                if wanted:
                    refused.add(form)
                self.cluster.wait(lambda wanted=wanted: spared() == wanted, 10, f"{form}: spared as {wanted!r}")
        self.assertEqual(refused, {"labels", "in", "exists", "empty"})


class BudgetTest(PreemptionCase):
    policy = f"{PreemptionCase.policy},budget=0,budget_share=0"

    def test_for_a_queue_that_has_spent_its_budget_nobody_is_stopped(self):
        self._fill(duration="12s")
        self.cluster.apply([self._soon("soon")])
        self.cluster.wait(
            lambda: self.waiting().get("soon") == "PreemptionBudgetSpent", 10, "the reason why nobody makes room"
        )
        self.assertEqual(self.daemon.total("slackline_preemption_budget_gpu_seconds"), 0)
        self.cluster.wait(lambda: self._finished("soon"), 60, "its turn")
        self.assertEqual(self._stops(), 0)


class NoticeTest(PreemptionCase):
    settings = "queue: {preemption: {notice: 5s}}\n"

    def _told(self):
        """When the pods of which Job are told that they are stopped."""
        times = {}
        for pod in self.cluster.list("pod", "default"):
            at = pod["metadata"].get("annotations", {}).get("slackline.dev/preempt-at")
            if at is not None:
                times[pod["metadata"]["labels"]["batch.kubernetes.io/job-name"]] = at
        return times

    def test_a_run_is_told_before_it_is_stopped(self):
        self._fill(duration="25s")
        counts = {
            name: self.daemon.total(name)
            for name in (
                "slackline_preemption_requested_to_free_seconds_count",
                "slackline_preemption_stop_to_running_again_seconds_count",
            )
        }
        before = time.time()
        self.cluster.apply([self._soon("soon")])
        self.cluster.wait(self._told, 10, "pods to be told")
        told = self._told()
        self.assertEqual(len(told), 1)
        ((victim, at),) = told.items()
        at_s = datetime.datetime.fromisoformat(at).timestamp()
        self.assertGreaterEqual(at_s, before + 5)
        self.assertEqual(self._stops(), 0)
        self.cluster.wait(lambda: self.waiting().get("soon") == "WaitingForPreempted", 3, "the reason")
        row = next(row for row in self.queue() if row["name"] == "soon")
        self.assertEqual(row["waitsFor"], [f"default/{victim}"])
        self.assertEqual(row["roomBy"], at)
        self.cluster.wait(lambda: "PreemptionPlanned" in self._reasons(victim), 10, "the Event")
        self.cluster.wait(lambda: self._stops(), 15, "the stop")
        self.assertGreaterEqual(time.time(), at_s)
        self.assertEqual(self._stopped(), [victim])
        self.cluster.wait_bound("soon", 1, timeout=10)
        self.cluster.wait(lambda: self._finished(victim), 90, "who made room to finish")
        self.assertEqual(self._note(victim)["count"], 1)
        for metric, count in counts.items():
            self.assertEqual(self.daemon.total(metric), count + 1, metric)

    def test_a_task_that_is_deleted_meanwhile_takes_it_back(self):
        self._fill(duration="20s")
        self.cluster.apply([self._soon("gone")])
        self.cluster.wait(self._told, 10, "pods to be told")
        (victim,) = self._told()
        self.cluster.kubectl("delete", "job", "gone", "-n", "default")
        self.cluster.wait(lambda: not self._told(), 10, "it to be taken back")
        self.cluster.wait(
            lambda: any("taken back" in event["message"] for event in self.events(victim)), 10, "the Event"
        )
        time.sleep(6)  # past the time of the stop that was announced: nothing may happen
        self.assertEqual(self._stops(), 0)

    def test_a_planner_that_dies_meanwhile_keeps_its_word(self):
        self._fill(duration="25s")
        self.cluster.apply([self._soon("soon")])
        self.cluster.wait(self._told, 10, "pods to be told")
        told = self._told()
        self.daemon.kill()
        self.daemon.start()
        self.cluster.wait(lambda: self._stops(), 40, "the stop")
        self.assertEqual(self._stopped(), list(told))
        self.cluster.wait_bound("soon", 1, timeout=10)


if __name__ == "__main__":
    unittest.main()
