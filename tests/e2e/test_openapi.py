"""REST against its own description: every route asked, and whatever schemathesis makes of the document."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from support.daemon import ROOT, Daemon
from support.openapi import Contract, breaks

DUMP = ROOT / "manifests/clusters/demo.yaml"
RELEASED = ROOT / "tests/contract/golden/rest/openapi-0.1.json"  # what clients of 0.1 rely on
TARGETS = (
    "/v1/cluster", "/v1/nodes", "/v1/nodes?state=free&sort=-free&offset=1&limit=2", "/v1/tasks",
    "/v1/tasks?search=bert&sort=name", "/v1/queue", "/v1/queue?state=waiting&sort=-slack&limit=1&offset=0", "/v1/history",
    "/v1/decisions", "/v1/models", "/v1/models/resnet50", "/v1/portraits", "/v1/tasks/team-nlp/bert-release",
    "/v1/tasks/team-nlp/bert-release/placements", "/v1/tasks/team-nlp/bert-release/advice", "/v1/reports", "/v1/reports/shadow",
    "/v1/shares",
    "/v1/tasks/team-nlp/nobody", "/v1/queue?sort=colour", "/v1/queue?offset=-1",
    "/v1/nodes?limit=0", "/v1/scores", "/v1/unheard-of", "/readyz?verbose", "/livez", "/metrics",
)  # fmt: skip
SECONDS = 45


class OpenApiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name  # schemathesis leaves files where it runs
        cls.daemon = Daemon(None, folder.name, flags=["--cluster", f"file:{DUMP}"])
        cls.addClassCleanup(cls.daemon.kill)
        cls.daemon.start()
        cls.document = json.loads(cls.daemon.get("/openapi.json")[1])

    def test_every_answer_is_as_described(self):
        for target in TARGETS:
            for output in ("", "table", "csv", "yaml"):
                asked = target if not output else f"{target}{'&' if '?' in target else '?'}output={output}"
                with self.subTest(asked):
                    self.daemon.get(asked)  # which compares

    def test_the_comparison_finds_what_is_wrong(self):
        contract = Contract(self.document)
        status, text = self.daemon.get("/v1/cluster")
        contract.check("GET", "/v1/cluster", status, "application/json", text)
        wrong = json.loads(text)
        for change in ({"nodes": "eight"}, {"unheardOf": 1}, {"cache": {}}):
            with self.assertRaises(AssertionError, msg=change):
                contract.check("GET", "/v1/cluster", status, "application/json", json.dumps({**wrong, **change}))
        with self.assertRaises(AssertionError):
            contract.check("GET", "/v1/cluster", status, "text/html", text)

    def test_nothing_that_clients_of_the_release_rely_on_is_gone(self):
        self.assertEqual(breaks(json.loads(RELEASED.read_text()), self.document), [])
        less = json.loads(RELEASED.read_text())
        del less["paths"]["/v1/queue"]
        del less["components"]["schemas"]["Node"]["properties"]["gpus"]
        found = breaks(json.loads(RELEASED.read_text()), less)
        self.assertEqual(found, ["get /v1/queue is gone", "Node.gpus is gone"])

    def test_whatever_the_document_allows_is_answered_as_it_says(self):
        program = (
            pathlib.Path(next(path for path in sys.path if "browser-tools" in path)).parents[2] / "bin/schemathesis"
        )
        checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
        done = subprocess.run(
            [program, "run", f"{self.daemon.api_url}/openapi.json", "--url", self.daemon.api_url, "--checks", checks,
             "--phases", "examples,fuzzing", "--max-examples", "10", "--seed", "7", "--workers", "1",
             "--exclude-path", "/v1/events", "--no-color"],
            capture_output=True, text=True, check=False, timeout=4 * SECONDS, cwd=self.folder,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout[-6000:] + done.stderr[-1000:])
        self.assertEqual(self.daemon.get("/readyz")[0], 200)


if __name__ == "__main__":
    unittest.main()
