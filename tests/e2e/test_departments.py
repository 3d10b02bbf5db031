"""Two departments that own halves of a real cluster, borrow from each other, and whose shares change
while everything runs."""

import json
import subprocess
import time
import unittest

from support.controlplane import ROOT, stock_scheduler_config
from support.daemon import slackline_binary
from support.objects import DURATION, TEAM, gpu_job, name_of, node_of
from support.queued_case import QueuedCase

GIVE_BACK_S = 5
SHARES = f"""queue: {{giveBackWithin: {GIVE_BACK_S}s}}
queues:
  - {{name: vision, shares: {{k80: {{own: 4}}}}}}
  - {{name: text, shares: {{K80: {{own: 4}}}}}}
"""
LONG = {"expected-duration": "10m", "checkpoint-interval": "1s"}


def job(name, queue, gpus=4, pods=1, **more):
    return gpu_job(name, gpus=gpus, pods=pods, labels={"slackline.dev/queue": queue}, **more)


class DepartmentsTest(QueuedCase):
    nodes = 2
    gpus_per_node = 4
    settings = SHARES

    def clean(self):
        super().clean()
        if self.daemon.config.read_text() != self.written:
            self.give({})

    def give(self, shares):
        """Each queue named gets this share of K80s, in place of its own."""
        text = self.written
        for queue, share in shares.items():
            line = next(line for line in SHARES.splitlines() if f"name: {queue}," in line)
            text = text.replace(line, f"  - {{name: {queue}, shares: {{K80: {share}}}}}")
        loaded = self.daemon.total("slackline_config_reloads_total", result="loaded")
        self.change_file(text)
        self.wait_reloads("loaded", loaded + 1)

    def share(self, queue):
        items = json.loads(self.daemon.get("/v1/shares")[1])["items"]
        return next(item for item in items if item.get("queue") == queue)

    def wait_bound(self, *jobs):
        for name in jobs:
            self.cluster.wait_bound(name, timeout=60, namespace=TEAM)

    def test_what_a_department_owns_is_kept_for_it(self):
        self.apply(job("v1", "vision"), job("v2", "vision", gpus=1))
        self.wait_bound("v1")
        self.wait_reason("v2", "ShareExceeded")
        self.assertIs(self.job("v2")["spec"]["suspend"], True)
        said = subprocess.run(
            [slackline_binary(), "shares", "-s", self.daemon.api_url], text=True, capture_output=True, check=True
        ).stdout
        self.assertIn("K80: 8 GPUs, 8 owned by queues; 0 of 0 in the pool are in use", said)
        self.apply(job("t1", "text"))
        self.wait_bound("t1")
        self.assertEqual((self.share("vision")["ownInUse"], self.share("text")["ownInUse"]), (4, 4))
        used = self.daemon.total("slackline_share_gpus", queue="vision", use="own")
        self.assertEqual(used, 4)

    def test_shares_change_while_everything_runs_and_nobody_is_stopped(self):
        self.apply(job("v1", "vision"), job("v2", "vision"))
        self.wait_bound("v1")
        self.wait_reason("v2", "ShareExceeded")
        self.give({"vision": "{own: 4, borrow: 4}"})
        self.wait_bound("v2")
        self.cluster.wait(lambda: self.share("vision")["borrowed"] == 4, 20, "the ledger to tell what is borrowed")
        running = {name: self.job(name)["status"].get("startTime") for name in ("v1", "v2")}
        self.give({"vision": "{own: 1}"})
        self.apply(job("v3", "vision", gpus=1))
        self.wait_reason("v3", "ShareExceeded")
        for name, since in running.items():
            self.assertEqual(self.job(name)["status"].get("startTime"), since, name)
            self.assertNotIn("slackline.dev/preemptions", self.job(name)["metadata"]["annotations"])

    def test_what_a_task_would_borrow_is_told_when_it_is_created(self):
        self.give({"vision": "{own: 4, borrow: 4}"})
        self.apply(job("v1", "vision"))
        self.wait_bound("v1")

        def told(gpus):
            return self.cluster.try_create(job("v2", "vision", gpus=gpus), "--dry-run=server")[1]

        self.cluster.wait(lambda: "queue vision would borrow 4 of 4 K80" in told(4), 20, "the warning")
        self.assertIn("asks for them back, and a PodDisruptionBudget only delays that", told(4))
        self.apply(job("v3", "vision"))
        self.wait_bound("v3")
        self.cluster.wait(lambda: "share of queue vision has no room for 1 K80 now" in told(1), 20, "the other one")

    def test_a_queue_with_a_share_needs_a_right(self):
        kubectl = self.cluster.kubectl
        kubectl("create", "role", "jobs", "--verb=create", "--resource=jobs.batch", "-n", TEAM)
        kubectl("create", "rolebinding", "jane-jobs", "--role=jobs", "--user=jane", "-n", TEAM)
        code, said = self.cluster.try_create(job("hers", "vision"), "--as=jane")
        self.assertNotEqual(code, 0)
        self.assertIn('needs the right to "use" queues/vision', said)
        self.assertIn("(QueueNotAllowed)", said)
        may = {"apiGroups": ["slackline.dev"], "resources": ["queues"], "resourceNames": ["vision"], "verbs": ["use"]}
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
                "metadata": {"name": "use-vision", "namespace": TEAM}, "rules": [may]}  # fmt: skip
        self.apply(role)
        kubectl("create", "rolebinding", "jane-vision", "--role=use-vision", "--user=jane", "-n", TEAM)
        self.cluster.wait(
            lambda: self.cluster.try_create(job("hers", "vision"), "--as=jane")[0] == 0, 20, "the right to be seen"
        )
        self.wait_bound("hers")
        row = self.rows()["hers"]
        self.assertEqual((row["state"], row["share"]), ("running", "private"))

    def stops(self, name):
        note = self.job(name)["metadata"]["annotations"].get("slackline.dev/preemptions")
        return json.loads(note)["count"] if note else 0

    def lend(self):
        """Text leaves its half idle, and vision has borrowed it."""
        self.give({"vision": "{own: 4, borrow: 4}"})
        self.apply(*(job(name, "vision", annotations=LONG) for name in ("v1", "v2")))
        self.wait_bound("v1", "v2")
        self.cluster.wait(lambda: self.share("vision")["borrowed"] == 4, 20, "the ledger to tell what is borrowed")
        return next(name for name in ("v1", "v2") if self.rows()[name]["share"] == "borrowed")

    def let_end(self, name):
        for pod in self.cluster.pods_of(name, TEAM):
            self.cluster.kubectl("annotate", "pod", name_of(pod), "-n", TEAM, f"{DURATION}=0s", "--overwrite")
        self.cluster.wait(lambda: self.job(name)["status"].get("succeeded"), 30, f"{name} to finish")

    def test_an_owner_has_its_idle_half_back_and_the_borrower_goes_on_afterwards(self):
        borrower = self.lend()
        asked_s = time.monotonic()
        self.apply(job("t1", "text"))
        self.wait_bound("t1")
        waited_s = time.monotonic() - asked_s
        self.assertLess(waited_s, GIVE_BACK_S + 10, "within the bound, and some seconds of the cluster's own")
        self.assertEqual({name: self.stops(name) for name in ("v1", "v2")}, {"v1": 0, "v2": 0} | {borrower: 1})
        self.assertEqual(self.rows()[borrower]["state"], "waiting")

        def told():
            events = self.cluster.list("event", TEAM)
            return any(
                event["reason"] == "BorrowedAskedBack"
                and event["involvedObject"]["name"] == borrower
                and "on the GPUs that its queue owns" in event["message"]
                for event in events
            )

        self.cluster.wait(told, 10, "the Event")
        self.assertGreater(self.daemon.total("slackline_preemptions_total", reason="BorrowedAskedBack"), 0)
        self.assertEqual(self.share("text")["ownInUse"], 4)
        self.let_end("t1")
        self.wait_bound(borrower)
        self.let_end(borrower)
        self.assertEqual(self.stops(borrower), 1)

    def test_nobody_borrows_the_room_of_an_owner_who_waits(self):
        self.give({"vision": "{own: 4, borrow: 4}"})
        self.apply(job("v1", "vision"), job("t1", "text"))
        self.wait_bound("v1", "t1")
        for name, queue in (("v2", "vision"), ("t2", "text")):
            self.apply(job(name, queue))
            self.cluster.wait(lambda: self.rows().get(name, {}).get("state") == "waiting", 20, f"{name} in the queue")
        # Its share is free before its room is: a Job that succeeds frees its room first.
        self.cluster.kubectl("delete", "job", "t1", "-n", TEAM)
        self.wait_bound("t2")
        self.assertEqual((self.rows()["v2"]["state"], self.stops("v2")), ("waiting", 0))
        self.let_end("t2")
        self.wait_bound("v2")

    def test_a_borrower_with_a_deadline_goes_on_elsewhere_at_once(self):
        self.give({"vision": "{own: 1, borrow: 4}"})
        self.apply(job("x", "text", gpus=2))
        self.wait_bound("x")
        self.apply(job("v0", "vision", gpus=1))
        self.wait_bound("v0")
        self.apply(job("b", "vision", gpus=2, annotations=LONG | {"deadline-after": "2h"}))
        self.wait_bound("b")
        (before,) = (node_of(pod) for pod in self.cluster.pods_of("b", TEAM))
        self.cluster.kubectl("delete", "job", "x", "-n", TEAM)
        self.cluster.wait(lambda: not self.cluster.pods_of("x", TEAM), 30, "x to go")
        self.apply(job("t1", "text"))
        self.wait_bound("t1", "b")
        (after,) = (node_of(pod) for pod in self.cluster.pods_of("b", TEAM))
        self.assertNotEqual(after, before)
        self.assertEqual(self.stops("b"), 1)
        said = [e["message"] for e in self.cluster.list("event", TEAM)
                if e["reason"] == "BorrowedAskedBack" and e["involvedObject"]["name"] == "b"]  # fmt: skip
        self.assertTrue(any(f"goes on as 1x2 on {after} so that {TEAM}/t1 can start" in text for text in said), said)

    def test_a_gang_that_borrows_gives_back_as_a_whole(self):
        self.give({"vision": "{own: 4, borrow: 4}"})
        self.apply(job("gang", "vision", gpus=4, pods=2, annotations=LONG))
        self.cluster.wait_bound("gang", 2, timeout=60, namespace=TEAM)
        self.apply(job("t1", "text", gpus=2))
        self.wait_bound("t1")
        self.assertEqual(self.stops("gang"), 1)
        self.let_end("t1")
        self.cluster.wait_bound("gang", 2, timeout=60, namespace=TEAM)

    def test_who_dies_in_the_middle_of_it_goes_on_in_the_next_life(self):
        # It has the pods that are made while no webhook answers.
        self.cluster.start_scheduler(stock_scheduler_config(self.cluster, "default-scheduler"), "kube-scheduler-stock")
        borrower = self.lend()
        self.apply(job("t1", "text"))
        # Killed between this write and the plan of t1, it does not lend the room once more either.
        self.cluster.wait(lambda: self.stops(borrower), 30, "the stop")
        self.daemon.kill()
        self.daemon.start()
        self.wait_bound("t1")
        self.assertEqual({name: self.stops(name) for name in ("v1", "v2")}, {"v1": 0, "v2": 0} | {borrower: 1})

    def test_a_gang_starts_on_own_and_borrowed_gpus_or_not_at_all(self):
        self.give({"vision": "{own: 4, borrow: 3}", "text": "{own: 4}"})
        self.apply(job("gang", "vision", gpus=4, pods=2))
        self.wait_reason("gang", "ShareExceeded")
        self.assertIs(self.rows()["gang"]["blocked"], True, "7 of 8 are all that it may ever use")
        self.assertEqual(self.cluster.pods_of("gang", TEAM), [])
        self.give({"vision": "{own: 4, borrow: 4}"})
        self.cluster.wait_bound("gang", 2, timeout=60, namespace=TEAM)
        self.assertEqual(self.share("vision")["borrowed"], 4)


class BandsTest(QueuedCase):
    """Pods show by their PriorityClass on whose GPUs they run."""

    nodes = 2
    gpus_per_node = 4
    settings = SHARES.replace("{own: 4}}}", "{own: 4, borrow: 4}}}")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.kubectl("apply", "--validate=strict", "-k", ROOT / "deploy" / "bands")
        cls.cluster.wait(
            lambda: cls.daemon.total("slackline_cache_objects", resource="priorityclasses") >= 20, 20, "the classes"
        )
        cls.cluster.wait(lambda: cls.cluster.try_create(cls.named("x", "public-1"), "--dry-run=server")[0], 20, "rules")

    @staticmethod
    def named(name, priority_class):
        written = job(name, "vision", gpus=1)
        written["spec"]["template"]["spec"]["priorityClassName"] = priority_class
        return written

    def wait_band(self, name, band, pods=1):
        """Each pod of the Job has a node, and this class with all that belongs to it."""
        self.cluster.wait_bound(name, pods, timeout=60, namespace=TEAM)
        value = int(self.cluster.kubectl("get", "priorityclass", band, "-o", "jsonpath={.value}"))
        for pod in self.cluster.pods_of(name, TEAM):
            spec = pod["spec"]
            self.assertEqual(
                (spec["priorityClassName"], spec["priority"], spec["preemptionPolicy"]), (band, value, "Never"), name
            )

    def test_private_on_own_gpus_public_on_borrowed_ones_and_higher_after_a_stop(self):
        self.apply(job("v1", "vision", gpus=2, pods=2, annotations=LONG))
        self.wait_band("v1", "private-5", pods=2)
        self.apply(job("v2", "vision", gpus=2, pods=2, annotations=LONG))
        self.wait_band("v2", "public-5", pods=2)
        self.apply(job("t1", "text"))
        self.wait_band("t1", "private-5")
        self.cluster.wait(lambda: self.rows()["v2"]["state"] == "waiting", 30, "the borrower to give back")
        self.cluster.kubectl("delete", "job", "t1", "-n", TEAM)
        self.wait_band("v2", "public-6", pods=2)
        replaced = self.cluster.pods_of("v2", TEAM)[0]
        self.cluster.kubectl("delete", "pod", name_of(replaced), "-n", TEAM, "--grace-period=0", "--force")
        self.cluster.wait(
            lambda: replaced["metadata"]["uid"] not in [p["metadata"]["uid"] for p in self.cluster.pods_of("v2", TEAM)]
            and len(self.cluster.pods_of("v2", TEAM)) == 2, 30, "another pod"
        )  # fmt: skip
        self.wait_band("v2", "public-6", pods=2)

    def test_a_class_that_a_person_chose_stays_and_no_person_chooses_a_band(self):
        mine = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                "metadata": {"name": "mine"}, "value": 7}  # fmt: skip
        self.apply(mine)
        self.cluster.wait(
            lambda: self.cluster.try_create(self.named("x", "mine"), "--dry-run=server")[0] == 0, 20, "it"
        )
        self.apply(self.named("v1", "mine"))
        self.cluster.wait_bound("v1", timeout=60, namespace=TEAM)
        self.assertEqual(self.cluster.pods_of("v1", TEAM)[0]["spec"]["priority"], 7)

        code, said = self.cluster.try_create(self.named("v2", "private-10"), "--dry-run=server")
        self.assertNotEqual(code, 0)
        self.assertIn("spec.template.spec.priorityClassName: only Slackline gives private-10", said)
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": TEAM},
               "spec": {**self.named("p", "private-10")["spec"]["template"]["spec"]}}  # fmt: skip
        for user in ([], ["--as=system:serviceaccount:kube-system:replicaset-controller"]):
            code, said = self.cluster.try_create(pod, "--dry-run=server", *user)
            self.assertNotEqual(code, 0, user)
            self.assertIn("only pods of Jobs get private-10", said)


if __name__ == "__main__":
    unittest.main()
