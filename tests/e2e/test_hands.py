"""Tasks in other people's hands, on a real control plane: who holds a Job back, pauses it, deletes it, or limits its time."""

import json
import time
import unittest

from support.installation import wait_leading
from support.objects import DURATION, MANAGED, TEAM, bound_and_live, gpu_job, gpu_pod, node_of
from support.queued_case import QueuedCase

GPUS = 2
QUIET_S = 2  # how long nothing may happen
WAYS = [(), *(("--server-side", "--force-conflicts", f"--field-manager={manager}")
              for manager in ("argocd-controller", "kustomize-controller"))]  # fmt: skip


class HandsTest(QueuedCase):
    nodes = 2
    gpus_per_node = GPUS

    # ---- who holds a Job back ------------------------------------------------------------------

    def test_a_job_created_suspended_joins_the_queue_once_it_is_resumed(self):
        self.fill()
        self.apply(job("first", "3h"))
        code, said = self.cluster.try_create(job("mine", "8h", spec={"suspend": True}))
        self.assertEqual(code, 0, said)
        self.assertIn("joins queue team-a once you set spec.suspend to false", said)
        self.wait_reason("mine", "HeldByUser")
        template = self.job("mine")["spec"]["template"]
        self.assertEqual(template["metadata"]["labels"]["slackline.dev/managed"], "true")
        self.resume("mine")
        self.assertIs(self.job("mine")["spec"]["suspend"], True, "it waits for its turn")
        self.wait_reason("mine", "WaitsItsTurn")
        self.free()
        self.wait_bound("first")
        self.assertEqual(self.pods("mine"), [], "whoever resumes overtakes nobody")
        self.cluster.kubectl("-n", TEAM, "delete", "job", "first", "--wait=false")
        self.wait_bound("mine")

    def test_hold_keeps_a_waiting_job_back_and_lets_it_go(self):
        self.fill()
        self.apply(job("held", "1h", hold="true"), job("next", "2h"))
        self.wait_reason("held", "HeldByUser")
        self.free()
        self.wait_bound("next")
        self.cluster.kubectl("-n", TEAM, "delete", "job", "next", "--wait=false")
        self.stays_without_pods("held")
        refused = self.cluster.try_kubectl(
            "-n", TEAM, "annotate", "job", "held", "--overwrite", "slackline.dev/hold=maybe"
        )
        self.assertNotEqual(refused[0], 0)
        self.assertIn("write true to hold the task back, or false", refused[1])
        self.cluster.kubectl("-n", TEAM, "annotate", "job", "held", "slackline.dev/hold-")
        self.wait_bound("held")

    def test_pausing_ones_own_job_is_no_disbelief_and_it_goes_on_when_it_is_resumed(self):
        before = self.daemon.total("slackline_plans_disbelieved_total")
        self.apply(job("mine", "1h"))
        self.wait_bound("mine")
        self.patch("mine", {"spec": {"suspend": True}})
        self.wait_reason("mine", "HeldByUser")
        self.cluster.wait(lambda: "slackline.dev/plan" not in self.notes("mine"), 20, "its plan to be void")
        self.resume("mine")
        self.wait_bound("mine")
        self.assertNotIn("PlanDisbelieved", self.events("mine"))
        self.assertEqual(self.daemon.total("slackline_plans_disbelieved_total"), before)

    # ---- who applies it again, or takes its label ---------------------------------------------

    def test_the_same_manifest_again_changes_nothing_of_a_job_that_runs(self):
        what = {"model": "resnet50", "batch-size": "64", "iterations": "900000", "placements": "2x2"}
        made = gpu_job("shaped", 1, 1, annotations=what)
        made["spec"]["template"]["metadata"]["annotations"][DURATION] = "10m"
        self.apply(made)
        self.cluster.wait_bound("shaped", 2, 30, TEAM)
        before, pods = self.job("shaped")["spec"], self.uids("shaped")
        self.assertEqual(before["parallelism"], 2, "the shape is Slackline's")
        for flags in WAYS:
            code, said = self.cluster.try_kubectl("apply", *flags, "-f", "-", input=json.dumps(made))
            self.assertEqual(code, 0, (flags, said))
            self.assertEqual(self.job("shaped")["spec"], before, flags)
        made["spec"].update(parallelism=4, completions=4)
        code, said = self.cluster.try_kubectl("apply", "-f", "-", input=json.dumps(made))
        self.assertEqual(code, 0, said)
        self.assertIn("spec.parallelism 4: counts from the next start of the Job", said)
        self.assertEqual(self.job("shaped")["spec"], before)
        self.assertIn('"parallelism":4', self.notes("shaped")["slackline.dev/original"])
        fewer = ["patch", "job", "shaped", "-n", TEAM, "-p", '{"spec":{"parallelism":1}}']
        code, said = self.cluster.try_kubectl(*fewer)
        self.assertEqual(code, 0, said)
        self.assertIn("spec.parallelism 1: it stays 2", said)
        edited = self.job("shaped")
        edited["spec"].update(parallelism=1, completions=1)
        del edited["metadata"]["resourceVersion"]
        code, said = self.cluster.try_kubectl("replace", "-f", "-", input=json.dumps(edited))
        self.assertEqual(code, 0, said)
        self.assertIn("spec.parallelism 1: counts from the next start of the Job", said)
        self.assertEqual(self.job("shaped")["spec"], before)
        self.assertEqual(self.uids("shaped"), pods)

    def test_the_same_manifest_again_changes_nothing_at_any_stage(self):
        what = {"model": "resnet50", "batch-size": "64", "iterations": "900000", "placements": "2x2"}
        made = gpu_job("shaped", 1, 1, annotations=what)
        made["spec"]["template"]["metadata"]["annotations"][DURATION] = "10m"

        def again(stage, shaped=True):
            before = self.job("shaped")
            for flags in WAYS:
                code, said = self.cluster.try_kubectl("apply", *flags, "-f", "-", input=json.dumps(made))
                self.assertEqual(code, 0, (stage, flags, said))
                now = self.job("shaped")
                self.assertEqual(note(now, "original"), note(before, "original"), (stage, flags))
                if shaped:
                    self.assertEqual(now["spec"], before["spec"], (stage, flags))
                    self.assertEqual(note(now, "plan"), note(before, "plan"), (stage, flags))

        self.fill()
        self.apply(made)
        self.wait_reason("shaped", "WaitsItsTurn")
        again("waits")
        self.daemon.restart()
        self.wait_reason("shaped", "WaitsItsTurn")
        again("waits, after a restart")
        self.free()
        self.cluster.kubectl("-n", "others", "delete", "pod", "other-1", "--force", "--grace-period=0", "--wait=false")
        [first, _] = self.cluster.wait_bound("shaped", 2, 30, TEAM)
        again("runs")
        self.daemon.restart()
        wait_leading(self.cluster, self.daemon)
        again("runs, after a restart")
        pods = self.uids("shaped")
        self.cluster.kubectl("-n", TEAM, "annotate", "job", "shaped", "slackline.dev/hold=true")
        self.evict(first)
        self.wait_reason("shaped", "HeldByUser")
        again("was stopped", shaped=False)
        self.cluster.kubectl("-n", TEAM, "annotate", "job", "shaped", "slackline.dev/hold-")
        self.cluster.wait(lambda: len(self.uids("shaped") - pods) == 2, 60, "it to run again, in its shape")
        self.assertEqual(self.job("shaped")["spec"]["parallelism"], 2)
        again("runs again")

    def test_a_job_whose_namespace_loses_its_label_for_a_moment_is_taken_on_again(self):
        self.apply(job("gang", "1h", pods=2))
        pods = self.cluster.wait_bound("gang", 2, 30, TEAM)
        first = self.notes("gang")["slackline.dev/plan"]
        for label in ("slackline.dev/managed-", "slackline.dev/managed=true"):
            self.cluster.kubectl("label", "namespace", TEAM, label)
        self.evict(pods[0])
        lost = pods[0]["metadata"]["uid"]
        self.cluster.wait(lambda: self.notes("gang").get("slackline.dev/plan", first) != first, 20, "a plan of its own")
        self.cluster.wait(lambda: self.rows().get("gang", {}).get("state") == "running", 10, "it to be in the queue")
        self.cluster.wait(lambda: len(self.uids("gang")) == 2 and lost not in self.uids("gang"),
                          40, "the gang to be whole again, none of it behind a gate")  # fmt: skip

    def test_a_job_that_runs_and_lost_its_plan_is_in_the_queue_as_running(self):
        self.apply(job("single", "1h", gpus=1), job("pair", "1h", gpus=1, pods=2))
        for name, pods in (("single", 1), ("pair", 2)):
            self.cluster.wait_bound(name, pods, 30, TEAM)
        self.cluster.kubectl("label", "namespace", TEAM, "slackline.dev/managed-")
        self.cluster.wait(lambda: not self.rows(), 20, "both to be nobody's")
        self.cluster.kubectl("label", "namespace", TEAM, "slackline.dev/managed=true")
        for name in ("single", "pair"):
            self.cluster.wait(lambda name=name: name in self.rows(), 20, f"{name} to be in the queue")
            row = self.rows()[name]
            self.assertEqual((row["state"], row["gpuType"]), ("running", "K80"))
            self.assertIn("predictedFinish", row)
        self.apply(job("next", "2h", pods=2))
        self.wait_reason("next", "WaitsItsTurn")
        why = json.loads(self.daemon.get(f"/v1/tasks/{TEAM}/next/explain")[1])
        named = {relief["task"] for blocker in why["blockers"] for relief in blocker.get("freedBy", [])}
        self.assertEqual(named, {f"{TEAM}/single", f"{TEAM}/pair"}, why)

    # ---- who deletes it ------------------------------------------------------------------------

    def test_a_job_that_is_being_deleted_has_left_the_queue(self):
        self.fill()
        ghost = job("ghost", "15m")
        ghost["metadata"]["finalizers"] = ["example.com/hook"]
        self.apply(ghost, job("next", "40m"))
        self.addCleanup(self.patch, "ghost", {"metadata": {"finalizers": None}})
        self.wait_reason("ghost", "WaitsItsTurn")
        self.cluster.kubectl("-n", TEAM, "delete", "job", "ghost", "--wait=false")
        self.cluster.wait(lambda: "ghost" not in self.rows(), 20, "it to leave the queue")
        self.free()
        self.wait_bound("next")
        self.assertIs(self.job("ghost")["spec"]["suspend"], True, "it is never released")
        self.patch("ghost", {"metadata": {"finalizers": None}})

    def test_a_job_in_a_namespace_that_is_being_deleted_is_never_released(self):
        self.cluster.add_namespace("leaves", MANAGED)
        self.fill()
        ghost = job("ghost", "15m")
        ghost["metadata"]["namespace"] = "leaves"
        # Nothing is made in the namespace any more, and its Jobs stay until its pods are gone.
        lasts = gpu_pod("lasts", 0, "leaves")
        lasts["metadata"]["finalizers"] = ["example.com/hook"]
        self.apply(ghost, job("next", "40m"), lasts)
        self.wait_reason("ghost", "WaitsItsTurn")
        self.cluster.kubectl("delete", "namespace", "leaves", "--wait=false")
        self.cluster.wait(lambda: "ghost" not in self.rows(), 20, "it to leave the queue")
        ghost = self.cluster.get("job", "leaves", "ghost")
        self.assertIs(ghost["spec"]["suspend"], True, "it is there, and is not released")
        self.assertNotIn("deletionTimestamp", ghost["metadata"])
        self.free()
        self.wait_bound("next")
        path = f"{self.cluster.collection('pod', 'leaves')}/lasts"
        self.assertEqual(self.cluster.request("PATCH", path, {"metadata": {"finalizers": None}})[0], 200)

    def test_a_job_deleted_while_it_runs_is_in_the_history(self):
        self.apply(job("cut", "1h"))
        self.wait_bound("cut")
        time.sleep(QUIET_S)  # so that it has used GPU time
        self.cluster.kubectl("-n", TEAM, "delete", "job", "cut", "--wait=false")
        row = self.cluster.wait(lambda: self.history().get("cut"), 20, "it to be in the history")
        self.assertEqual((row["outcome"], row["result"], row["gpus"]), ("deleted", "none", GPUS))
        self.assertGreater(row["gpuHours"], GPUS * 1 / 3600)
        self.assertEqual(self.daemon.total("slackline_jobs_failed_total"), 0)

    def test_the_place_of_a_lost_member_is_its_replacements(self):
        self.apply(job("gang", "8h", pods=2))
        [first, second] = self.cluster.wait_bound("gang", 2, 30, TEAM)
        self.apply(job("other", "1h", duration="2s"))
        self.wait_reason("other", "WaitsItsTurn")
        self.fail_pod(first)
        self.cluster.wait(lambda: len(self.uids("gang")) == 1, 20, "it to have failed")
        self.wait_reason("gang", "ReplacementWaits")  # while its controller backs off
        self.cluster.wait(lambda: len(self.uids("gang")) == 2, 40, "its replacement to run")
        self.assertEqual(self.pods("other"), [], "who waits gets no part of a gang's place")
        self.assertIn(second["metadata"]["uid"], self.uids("gang"))

    def test_an_index_that_has_failed_for_good_gives_its_place_away(self):
        self.apply(job("per", "8h", pods=2, spec={"backoffLimitPerIndex": 0, "maxFailedIndexes": 2}))
        [first, second] = self.cluster.wait_bound("per", 2, 30, TEAM)
        self.apply(job("other", "9h"))
        self.wait_reason("other", "WaitsItsTurn")
        self.fail_pod(first)
        self.wait_bound("other")
        self.assertEqual(self.uids("per"), {second["metadata"]["uid"]})

    def test_pods_of_a_gang_that_may_not_share_a_node_get_one_each(self):
        apart = job("apart", "1h", gpus=1, pods=2)
        template = apart["spec"]["template"]
        template["metadata"]["labels"] = {"app": "apart"}
        term = {"labelSelector": {"matchLabels": {"app": "apart"}}, "topologyKey": "kubernetes.io/hostname"}
        template["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        ports = job("ports", "1h", gpus=1, pods=2)
        ports["spec"]["template"]["spec"]["containers"][0]["ports"] = [{"containerPort": 29500, "hostPort": 29500}]
        self.apply(apart, ports)
        for name in ("apart", "ports"):
            pods = self.cluster.wait_bound(name, 2, 20, TEAM)
            self.assertEqual(len({node_of(pod) for pod in pods}), 2, name)

    # ---- whose image is not there --------------------------------------------------------------

    def test_who_has_its_gpus_and_cannot_start_says_so_until_it_does(self):
        stuck = job("stuck", "8h", pods=2)
        notes = stuck["spec"]["template"]["metadata"]["annotations"]
        notes["sim.slackline.dev/no-image"] = "true"
        self.apply(stuck)
        self.cluster.wait_bound("stuck", 2, 30, TEAM)
        self.wait_reason("stuck", "PodsNotStarting")
        self.assertEqual(self.rows()["stuck"]["state"], "running")
        why = json.loads(self.daemon.get(f"/v1/tasks/{TEAM}/stuck/explain")[1])
        [blocker] = why["blockers"]
        self.assertRegex(
            blocker["detail"], r'^stuck-0-\w+ on k80-\d: ImagePullBackOff: Back-off pulling image "busybox'
        )
        for pod in self.pods("stuck"):
            self.cluster.kubectl("-n", TEAM, "annotate", "pod", pod["metadata"]["name"], "sim.slackline.dev/no-image-")
        self.cluster.wait(lambda: "reason" not in self.rows()["stuck"], 20, "it to run")

    # ---- whose time is limited -----------------------------------------------------------------

    def test_waiting_does_not_count_against_active_deadline_seconds(self):
        self.fill()
        many = job("many", "1h", gpus=1, pods=2, duration="2s", spec={"activeDeadlineSeconds": 8})
        del many["spec"]["completionMode"]
        code, said = self.cluster.try_create(many)
        self.assertEqual(code, 0, said)
        self.assertIn("spec.activeDeadlineSeconds: 8 s count from the turn of the first of 2 pods", said)
        self.wait_reason("many", "WaitsItsTurn")
        self.stays_without_pods("many")
        self.assertIs(self.job("many")["spec"]["suspend"], True)
        self.free()
        self.cluster.wait(lambda: self.job("many")["status"].get("succeeded") == 2, 40, "both pods to succeed")

    # ---- words ---------------------------------------------------------------------------------

    def fill(self):
        """Somebody else's pods take every GPU."""
        pods = [gpu_pod(f"other-{node}", GPUS, "others") for node in range(2)]
        for node, pod in enumerate(pods):
            pod["spec"]["nodeName"] = f"k80-{node}"
        self.cluster.apply(pods)
        self.cluster.wait(
            lambda: self.daemon.total("slackline_gpus", gpu_type="K80", state="free") == 0, 20, "a full cluster"
        )

    def free(self):
        """One of the two nodes."""
        self.cluster.kubectl("-n", "others", "delete", "pod", "other-0", "--force", "--grace-period=0", "--wait=false")

    def pods(self, name):
        return self.cluster.pods_of(name, TEAM)

    def uids(self, name):
        return {pod["metadata"]["uid"] for pod in bound_and_live(self.pods(name))}

    def notes(self, name):
        return self.job(name)["metadata"].get("annotations", {})

    def patch(self, name, change):
        status, reply = self.cluster.request("PATCH", f"{self.cluster.collection('job', TEAM)}/{name}", change)
        self.assertIn(status, (200, 404), reply)

    def evict(self, pod):
        name = pod["metadata"]["name"]
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
        path = f"{self.cluster.collection('pod', TEAM)}/{name}/eviction"
        self.assertEqual(self.cluster.request("POST", path, eviction)[0], 201)

    def fail_pod(self, pod):
        path = f"{self.cluster.collection('pod', TEAM)}/{pod['metadata']['name']}/status"
        status, reply = self.cluster.request("PATCH", path, {"status": {"phase": "Failed"}})
        self.assertEqual(status, 200, reply)

    def resume(self, name):
        self.patch(name, {"spec": {"suspend": False}})

    def events(self, name):
        return {each["reason"] for each in self.cluster.list("event", TEAM) if each["involvedObject"]["name"] == name}

    def wait_bound(self, name):
        self.cluster.wait(lambda: bound_and_live(self.pods(name)), 30, f"{name} to run")

    def stays_without_pods(self, name):
        until = time.monotonic() + QUIET_S
        while time.monotonic() < until:
            self.assertEqual([node_of(pod) for pod in self.pods(name)], [], name)
            time.sleep(0.2)


def note(job, key):
    return job["metadata"]["annotations"].get(f"slackline.dev/{key}")


def job(name, deadline_after, gpus=GPUS, pods=1, duration="10m", hold=None, spec=None):
    notes = {"deadline-after": deadline_after, "expected-duration": "10m"}
    if hold:
        notes["hold"] = hold
    made = gpu_job(name, gpus, pods, annotations=notes, spec=spec)
    made["spec"]["template"]["metadata"]["annotations"][DURATION] = duration
    return made


if __name__ == "__main__":
    unittest.main()
