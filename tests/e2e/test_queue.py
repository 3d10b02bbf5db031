"""What people see of the queue on a real control plane: `slackline queue` in every form, reasons,
Events that `kubectl describe` shows, metrics. Jobs come as the webhook leaves them."""

import csv
import io
import json
import os
import pty
import signal
import socket
import subprocess
import unittest

from support.active_case import ActiveCase
from support.daemon import slackline, slackline_binary
from support.objects import gpu_pod, waiting_job
from support.patience import patient

LONG = {"slackline.dev/expected-duration": "10m"}


class QueueTest(ActiveCase):
    @classmethod
    def setUpClass(cls):
        cls.make_cluster(nodes=2)
        cls.start_planning(cls.account)

    def test_the_queue_is_shown_in_every_form(self):
        self._fill(2)
        self.cluster.apply([waiting_job("train", gpus=4, deadline_after="2h", annotations=LONG)])
        self._wait_row("train", reason="WaitsItsTurn")
        table = self._ask("table")
        self.assertIn("default/train", table)
        self.assertIn("WaitsItsTurn", table)
        self.assertNotIn("RETRIED AFTER", table)
        self.assertIn("RETRIED AFTER", self._ask("wide"))
        (row,) = csv.DictReader(io.StringIO(self._ask("csv")))
        self.assertEqual((row["position"], row["name"], row["gpus"]), ("1", "default/train", "4"))
        self.assertIn("- position: 1\n  kind: Job\n  namespace: default\n  name: train\n",
                      self._ask("yaml"))  # fmt: skip
        answer = json.loads(self._ask("json"))
        self.assertEqual(answer["items"][0]["shape"], "1x4")
        self.assertTrue(answer["leader"])
        self.assertTrue(answer["forecastTime"])
        status, text = self.daemon.get("/v1/queue?output=xml")
        self.assertEqual(status, 400)
        self.assertIn("expected table, wide, json, yaml, csv or cells", text)

    def test_watching_appends_where_there_is_no_terminal_and_redraws_where_there_is(self):
        self._fill(2)
        self.cluster.apply([waiting_job("watched", gpus=4)])
        self._wait_row("watched")
        command = [slackline_binary(), "queue", "-s", self.daemon.api_url, "--watch",
                   "--interval", "0.3"]  # fmt: skip
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            text = ""
            while text.count("default/watched") < 2:
                line = process.stdout.readline()
                self.assertTrue(line, f"it ended after:\n{text}")
                text += line
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=patient(10))
        self.assertEqual(process.returncode, 0, "Ctrl-C is how it ends")
        self.assertNotIn("\x1b", text)

        ours, theirs = pty.openpty()
        with subprocess.Popen(command, stdout=theirs, stderr=theirs) as process:
            os.close(theirs)
            seen = b""
            while seen.count(b"default/watched") < 2:
                seen += os.read(ours, 65536)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=patient(10)), 0)
        os.close(ours)
        self.assertGreaterEqual(seen.count(b"\x1b[H"), 2, "each picture is drawn over the last")

    def test_watching_ends_while_nobody_answers(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}"
            for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                with (
                    self.subTest(ending),
                    subprocess.Popen([slackline_binary(), "queue", "-s", url, "--watch"]) as process,
                ):
                    connection = silent.accept()[0]
                    connection.recv(1)
                    process.send_signal(ending)
                    self.assertEqual(process.wait(timeout=patient(5)), 0)
                    connection.close()

    def test_describe_tells_the_way_of_a_job(self):
        self._fill(2, duration="4s")
        self.cluster.apply([waiting_job("story", pods=2, gpus=4, gang=True, annotations=LONG)])
        self._wait_events("story", {"Queued", "Planned", "Released"}, 60)
        self.assertEqual(self._forecast("story"), "", "what is predicted for who waits")
        text = self.cluster.kubectl("describe", "job", "story")
        for words in ("behind 0 tasks, waits for 8 GPUs", "2x4 K80 on", "kube-scheduler may bind"):
            self.assertIn(words, text)
        released = [each for each in self.events("story") if each["reason"] == "Released"]
        self.assertEqual(len(released), 1)
        self.assertEqual(released[0].get("count"), 1)
        self.assertGreaterEqual(self.daemon.total("slackline_task_moves_total", reason="Released"), 1)
        self.assertEqual(self.daemon.total("slackline_events_total", result="failed"), 0)

    def _forecast(self, job):
        return self.cluster.get("job", "default", job)["metadata"]["annotations"].get("slackline.dev/forecast", "")

    def test_a_deadline_that_will_be_missed_is_told_before(self):
        self.cluster.apply(
            [waiting_job(f"hour-{i}", gpus=4, annotations={"slackline.dev/expected-duration": "1h"})
             for i in range(2)]
        )  # fmt: skip
        self.cluster.wait(lambda: self.bound("hour") == 2, 30, "both nodes to be taken")
        self.cluster.apply([waiting_job("late", gpus=4, deadline_after="15m", annotations=LONG)])
        self._wait_events("late", {"Queued", "DeadlineAtRisk"}, 30)
        (risk,) = [each for each in self.events("late") if each["reason"] == "DeadlineAtRisk"]
        self.assertEqual(risk["type"], "Warning")
        self.cluster.wait(lambda: "behind 0 tasks" in self._forecast("late"), 20, "the forecast on the Job")
        (queued,) = [each for each in self.events("late") if each["reason"] == "Queued"]
        self.assertEqual(self._forecast("late"), queued["message"])
        self.assertIn("after its deadline", risk["message"])
        self.assertEqual(self.daemon.total("slackline_queue_predicted_late"), 1)
        self.assertEqual(self.daemon.total("slackline_queue_waiting", reason="WaitsItsTurn"), 1)

    def test_a_queue_in_which_nobody_can_be_in_time_says_so_once(self):
        self.cluster.apply(
            [waiting_job(f"hour-{i}", gpus=4, annotations={"slackline.dev/expected-duration": "1h"})
             for i in range(2)]
        )  # fmt: skip
        self.cluster.wait(lambda: self.bound("hour") == 2, 30, "both nodes to be taken")
        self.assertEqual(self.daemon.total("slackline_queue_overloaded"), 0)
        names = ("hopeless-a", "hopeless-b")
        self.cluster.apply([waiting_job(name, gpus=4, deadline_after="15m", annotations=LONG) for name in names])

        def told():
            return [each for name in names for each in self.events(name) if each["reason"] == "Overloaded"]

        self.cluster.wait(told, 30, "the overload to be told")
        (event,) = told()
        self.assertEqual((event["type"], event.get("count")), ("Warning", 1))
        # Two hours of four GPUs run and two times ten minutes wait; eight GPUs have a quarter of an hour.
        self.assertRegex(event["message"], r"queue default: all 2 waiting tasks .* need 3\.[0-9] GPU-hours, and the "
                                           r"cluster has (2\.0|1\.9)")  # fmt: skip
        self.assertEqual(self.daemon.total("slackline_queue_overloaded", queue="default"), 1)

    def test_who_lost_its_nodes_backs_off_and_says_why(self):
        self._fill(1)
        self.cluster.kill("kube-scheduler")
        self.addCleanup(self.restart_scheduler)
        self.cluster.apply([waiting_job("unlucky", gpus=4)])
        self.cluster.wait(lambda: self.plan("unlucky"), 20, "it to be planned")
        (node,) = self.plan("unlucky")["nodes"]
        self.cluster.kubectl("cordon", node)
        self.addCleanup(self.cluster.kubectl, "uncordon", node)
        codes = ("NodesLost", "NotBound")
        row = self.cluster.wait(
            lambda: next((row for row in self.queue() if row["name"] == "unlucky"
                          and row.get("reason") in codes), None),
            120, "it to come back",
        )  # fmt: skip
        self.assertGreater(row["retryAfter"], row["created"])
        self._wait_events("unlucky", {row["reason"]}, 20)
        self.assertGreaterEqual(self.daemon.total("slackline_task_moves_total", reason=row["reason"]), 1)

    def test_a_replica_that_does_not_plan_says_who_does(self):
        self._fill(2)
        self.cluster.apply([waiting_job("asked", gpus=4)])
        self._wait_row("asked", reason="WaitsItsTurn")
        other = self.replica("b", self.account).start()
        self.addCleanup(other.kill)
        mine = json.loads(self.daemon.get("/v1/queue")[1])

        def told():
            answer = json.loads(other.get("/v1/queue")[1])
            found = [row for row in answer["items"] if row["name"] == "asked"]
            return answer if found and found[0]["reason"] == "NotKnownHere" else None

        theirs = self.cluster.wait(told, 20, "the other replica to say so")
        self.assertEqual(theirs["leader"], mine["leader"])
        self.assertIn("another replica answers", slackline("queue", "-s", other.api_url))
        self.assertEqual(other.total("slackline_events_total"), 0)

    def test_a_type_that_is_not_there_is_named(self):
        notes = {"slackline.dev/gpu-types": "H100"}
        self.cluster.apply([waiting_job("wishful", annotations=notes)])
        self._wait_row("wishful", reason="GpuTypeAbsent")
        self.cluster.wait(
            lambda: self.daemon.total("slackline_queue_waiting", reason="GpuTypeAbsent") == 1,
            10, "the metric",
        )  # fmt: skip

    # ---- words the tests are written in --------------------------------------------------------

    def _fill(self, nodes, duration=None):
        pods = [gpu_pod(f"fill-{i}", gpus=4, duration=duration) for i in range(nodes)]
        self.cluster.apply(pods)
        self.cluster.wait(lambda: self.bound("fill") == nodes, 30, "the nodes to be full")

    def _ask(self, output):
        return slackline("queue", "-s", self.daemon.api_url, "-o", output)

    def _wait_row(self, name, **fields):
        def found():
            for row in self.queue():
                if row["name"] == name and all(row.get(k) == v for k, v in fields.items()):
                    return row
            return None

        return self.cluster.wait(found, 20, f"{name} to queue with {fields}")

    def _wait_events(self, job, reasons, timeout):
        self.cluster.wait(
            lambda: reasons <= {event["reason"] for event in self.events(job)},
            timeout, f"{reasons} on {job}",
        )  # fmt: skip


if __name__ == "__main__":
    unittest.main()
