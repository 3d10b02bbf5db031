"""How long answers take while a thousand tasks wait."""

import json
import tempfile
import time
import unittest

from support.big_dump import big_dump
from support.daemon import Daemon
from support.objects import gpu_job
from support.patience import patient

WAITING, NODES = 1000, 200
WHY_S, QUOTE_S = 1, 0.2
ROUNDS = 30


class AnswerTimesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        dump = f"{folder.name}/dump.yaml"
        with open(dump, "w") as file:
            file.write(big_dump(WAITING + NODES // 2, NODES))
        cls.daemon = Daemon(None, folder.name, flags=["--cluster", f"file:{dump}"])
        cls.addClassCleanup(cls.daemon.kill)
        cls.daemon.start(timeout=60)
        cls.rows = json.loads(cls.daemon.get("/v1/queue?state=waiting&limit=1000")[1])["items"]

    def longest_s(self, question):
        """Of as many calls as there are rounds: the longest."""
        took = []
        for i in range(ROUNDS):
            began = time.monotonic()
            status, text = question(i)
            took.append(time.monotonic() - began)
            self.assertEqual(status, 200, text)
        took.sort()
        print(f"{self._testMethodName}: median {1000 * took[ROUNDS // 2]:.0f} ms, longest {1000 * took[-1]:.0f} ms")
        return took[-1]

    def test_why_one_waits(self):
        self.assertEqual(len(self.rows), WAITING)
        paths = [f"/v1/tasks/{row['namespace']}/{row['name']}/explain" for row in self.rows[:: WAITING // ROUNDS]]
        self.assertLess(self.longest_s(lambda i: self.daemon.get(paths[i])), patient(WHY_S))

    def test_what_a_job_would_get(self):
        job = gpu_job(
            "new", gpus=4, namespace="team-1", annotations={"expected-duration": "2h", "deadline-after": "9h"}
        )
        body = json.dumps({"apiVersion": "batch/v1", "kind": "Job", **job})
        ask = lambda _: self.daemon.post("/v1/quote?namespace=team-1", body, port=self.daemon.api_port)  # noqa: E731
        self.assertLess(self.longest_s(ask), patient(QUOTE_S))


if __name__ == "__main__":
    unittest.main()
