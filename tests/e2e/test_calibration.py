"""Calibration runs on a real control plane: idle GPUs measure how fast an unknown model trains, where the owner of the
namespace allows it and nobody waits for them. The policies of deploy/policy hold throughout.
"""

import json
import unittest

from support.active_case import ActiveCase
from support.controlplane import DAEMON_USER, ROOT
from support.daemon import slackline
from support.objects import MANAGED, bound_and_live, name_of, waiting_job

OPEN = "team-open"
CLOSED = "team-closed"
LABEL = "slackline.dev/calibration"


def notes(model, **more):
    all_notes = {"model": model, "batch-size": "64", "iterations": "5000", **more}
    return {f"slackline.dev/{key}": value for key, value in all_notes.items()}


def parked_job(name, namespace, model, duration, placements):
    """A Job that its owner holds suspended, as a template of which runs may be made."""
    job = waiting_job(name, gpus=1, namespace=namespace, duration=duration, gang=True,
                      annotations=notes(model, placements=placements))  # fmt: skip
    del job["metadata"]["annotations"]["slackline.dev/suspended-by"]
    job["metadata"]["labels"] = {LABEL: "allowed"}
    return job


def has_failed(job):
    conditions = job.get("status", {}).get("conditions", [])
    return any(each["type"] == "Failed" and each["status"] == "True" for each in conditions)


class CalibrationTest(ActiveCase):
    settings = "calibration: {idleFor: 1s, priorityClass: slackline-calibration}\n"

    @classmethod
    def setUpClass(cls):
        cls.make_cluster(2)  # nodes of four GPUs
        for folder in ("policy", "calibration"):
            cls.cluster.kubectl("apply", "--validate=strict", "-k", ROOT / "deploy" / folder)
        for namespace in (OPEN, CLOSED):
            cls.cluster.add_namespace(namespace, MANAGED)
        cls.cluster.kubectl("apply", "-n", OPEN, "-f", ROOT / "deploy/calibration/rolebinding.yaml")
        cls.start_planning(cls.account)

    # ---- what is there -------------------------------------------------------------------------

    def runs(self, namespace=OPEN):
        jobs = self.cluster.list("job", namespace)
        return [each for each in jobs if each["metadata"].get("labels", {}).get(LABEL) == "run"]

    def reasons(self, job, namespace=OPEN):
        events = self.cluster.list("event", namespace)
        return {each["reason"]: each["message"] for each in events if each["involvedObject"]["name"] == job}

    def rows(self, model, *flags):
        return json.loads(slackline("calibrate", model, "-s", self.daemon.api_url, "-o", "json", *flags))["items"]

    def get(self, path):
        return json.loads(self.daemon.get(path)[1])

    # ---- tests ---------------------------------------------------------------------------------

    def test_idle_gpus_make_a_model_known_and_the_next_job_is_predicted(self):
        self.cluster.apply([parked_job("nets", OPEN, "newnet", "24s", "1x1,1x2,1x4")])
        runs = self.cluster.wait(lambda: len(self.runs()) == 3 and self.runs(), 30, "three runs side by side")
        for run in runs:
            template = run["spec"]["template"]["spec"]
            self.assertEqual((run["spec"]["backoffLimit"], run["spec"]["ttlSecondsAfterFinished"]), (0, 86400))
            self.assertEqual(template["priorityClassName"], "slackline-calibration")
            env = {each["name"]: each["value"] for each in template["containers"][0]["env"]}
            self.assertEqual(env, {"SLACKLINE_ITERATIONS": "100", "SLACKLINE_CALIBRATION": "true"})
        self.assertIn("CalibrationStarted", self.reasons("nets"))
        self.cluster.wait(
            lambda: [each["status"].get("succeeded") for each in self.runs()] == [1, 1, 1], 60, "the runs to end"
        )
        known = lambda: self.get("/v1/models/newnet").get("gpuTypes", [])  # noqa: E731
        self.cluster.wait(lambda: known() and known()[0]["samples"] == 3, 20, "their samples")
        self.assertEqual(known()[0]["from"], "fitted here")
        self.assertEqual({row["state"] for row in self.rows("newnet", "--dry-run")}, {"measured"})
        self.assertEqual(len(self.runs()), 3, "and no more")
        self.check_that_they_count_for_nobody()
        self.cluster.apply([waiting_job("next", namespace=OPEN, gpus=2, annotations=notes("newnet"))])
        shapes = lambda: self.get(f"/v1/tasks/{OPEN}/next/placements")["items"]  # noqa: E731
        self.cluster.wait(lambda: shapes()[0].get("latSeconds"), 20, "the next Job to be predicted")

    def check_that_they_count_for_nobody(self):
        ended = lambda: self.get(f"/v1/history?namespace={OPEN}")["items"]  # noqa: E731
        history = lambda: [row for row in ended() if row["model"] == "newnet"]  # noqa: E731
        self.cluster.wait(lambda: len(history()) == 3, 20, "the history")
        self.assertEqual({row["qosClass"] for row in history()}, {"calibration"})
        completed = "slackline_jobs_completed_total"
        self.assertEqual(self.daemon.total(completed, deadline="none", **{"class": "calibration"}), 3)
        for promised in ("met", "missed"):
            self.assertEqual(self.daemon.total(completed, deadline=promised), 0)
        self.assertEqual(self.get(f"/v1/portraits?namespace={OPEN}")["items"], [], "nor are they their family's runs")

    def test_without_a_role_binding_nothing_is_made_and_the_owner_is_told(self):
        self.cluster.apply([parked_job("nets", CLOSED, "closednet", "24s", "1x1,1x2,1x4")])
        wanted = self.rows("closednet", "--dry-run")
        self.assertEqual({row["state"] for row in wanted}, {"wanted"})
        self.assertEqual(wanted[0]["shape"], "1x1")
        self.assertGreater(wanted[0]["bits"], wanted[-1]["bits"])
        asked = self.rows("closednet")
        self.assertEqual([row["shape"] for row in asked], [row["shape"] for row in wanted])
        told = self.cluster.wait(
            lambda: self.reasons("nets", CLOSED).get("CalibrationNotAllowed"), 30, "its owner to be told"
        )
        self.assertIn(f"kubectl apply -n {CLOSED} -f deploy/calibration/rolebinding.yaml", told)
        self.assertEqual(self.runs(CLOSED), [])
        self.assertGreater(self.daemon.total("slackline_calibration_runs_total", result="not_allowed"), 0)
        created = [event for event in self.cluster.audit()
                   if event["user"]["username"] == DAEMON_USER and event["verb"] == "create"
                   and event["objectRef"]["resource"] == "jobs"
                   and event["objectRef"]["namespace"] != OPEN and event["responseStatus"]["code"] < 300]  # fmt: skip
        self.assertEqual(created, [])

    def test_without_the_label_nothing_is_made(self):
        job = parked_job("plain", OPEN, "plainnet", "24s", "1x1,1x2")
        del job["metadata"]["labels"]
        self.cluster.apply([job])
        with self.assertRaisesRegex(AssertionError, "has the label slackline.dev/calibration=allowed"):
            self.rows("plainnet", "--dry-run")
        self.cluster.apply([waiting_job("other", gpus=1, duration="3s")])
        self.cluster.wait(lambda: self.cluster.get("job", "default", "other")["status"].get("succeeded"), 30, "a Job")
        self.assertEqual(self.runs(), [])

    def test_a_task_with_a_deadline_ends_the_run_and_no_other(self):
        steady = waiting_job("steady", gpus=4, duration="600s",
                             annotations={"slackline.dev/checkpoint-interval": "1s"})  # fmt: skip
        self.cluster.apply([steady])
        self.cluster.wait(lambda: self.bound("steady") == 1, 30, "the Job")
        self.cluster.apply([parked_job("nets", OPEN, "longnet", "600s", "1x4")])
        on_nodes = lambda: [name_of(pod) for pod in bound_and_live(self.cluster.list("pod", OPEN))]  # noqa: E731
        self.cluster.wait(on_nodes, 30, "the calibration run")
        self.cluster.apply([waiting_job("promised", gpus=4, deadline_after="1m", duration="5s",
                                        annotations={"slackline.dev/expected-duration": "30s"})])  # fmt: skip
        self.cluster.wait(lambda: self.bound("promised") == 1, 40, "the task with the deadline")
        (run,) = self.runs()
        self.cluster.wait(lambda: has_failed(self.runs()[0]), 10, "the Job of the run to have failed")
        self.assertIn("default/promised", self.reasons(name_of(run)).get("CalibrationStopped", ""))
        self.assertEqual(self.bound("steady"), 1, "whose checkpoints would have cost less than a second")
        kept = self.cluster.get("job", "default", "steady")["metadata"]["annotations"]
        self.assertNotIn("slackline.dev/preemptions", kept)

    def test_our_token_makes_nothing_but_calibration_runs(self):
        token = self.cluster.service_account_token("slackline-system", "slackline")
        path = f"/apis/batch/v1/namespaces/{OPEN}/jobs"
        plain = waiting_job("plain", namespace=OPEN)
        posted = lambda job: self.cluster.request("POST", f"{path}?dryRun=All", job, token=token)  # noqa: E731
        status, said = posted(plain)
        self.assertEqual(status, 403, said)
        self.assertIn("only Jobs with the label slackline.dev/calibration=run", said["message"])
        run = waiting_job("run", namespace=OPEN)
        run["metadata"]["labels"] = {LABEL: "run"}
        self.assertEqual(posted(run)[0], 403, "without a limit")
        run["spec"].update(backoffLimit=0, activeDeadlineSeconds=60, ttlSecondsAfterFinished=60)
        self.assertEqual(posted(run)[0], 201)
        self.assertEqual(self.cluster.request("POST", f"{path}?dryRun=All", run)[0], 403, "of anybody else")
        self.cluster.apply([plain])
        self.assertEqual(self.cluster.request("DELETE", f"{path}/plain", token=token)[0], 403)
        limit = {"spec": {"activeDeadlineSeconds": 1}}
        status, said = self.cluster.request("PATCH", f"{path}/plain", limit, token=token)
        self.assertEqual(status, 403, said)

    def test_a_task_of_which_nothing_is_known_takes_a_node_set_aside_for_such(self):
        *_, last = sorted(name_of(node) for node in self.cluster.list("node"))
        self.cluster.kubectl("label", "node", last, "slackline.dev/profiler=true")
        self.addCleanup(self.cluster.kubectl, "label", "node", last, "slackline.dev/profiler-")
        self.cluster.apply([waiting_job("unknown", gpus=1, duration="60s")])
        self.cluster.wait(lambda: self.bound("unknown") == 1, 30, "the Job")
        self.assertEqual(self.plan("unknown")["nodes"], [last])

    def test_release_removes_runs_that_are_not_over(self):
        self.cluster.apply([parked_job("nets", OPEN, "releasednet", "600s", "1x2")])
        self.cluster.wait(self.runs, 30, "a run")
        self.daemon.kill()
        slackline("release", "--kubeconfig", self.account)
        self.cluster.wait(lambda: not self.runs(), 20, "the run to be gone")


if __name__ == "__main__":
    unittest.main()
