"""A filter call with every Node in full, as kube-scheduler sends it where nodeCacheCapable is false."""

import contextlib
import http.client
import json
import pathlib
import tempfile
import time
import unittest

from support.daemon import Daemon
from support.objects import gpu_node, gpu_pod
from support.patience import patient

NODES = 5000
RAISED = """\
listeners:
  extender:
    limits: {memory: 256Mi, maxBody: 128Mi}
"""


def whole_node(index):
    """About 14 kB, as a kubelet and its drivers leave a Node: labels, images, who wrote which field."""
    node = gpu_node(f"gpu-node-{index:05}.cluster.example.internal", 8, "NVIDIA-A100-SXM4-80GB", ready=True)
    name = node["metadata"]["name"]
    for each in range(30):
        node["metadata"]["labels"][f"feature.node.kubernetes.io/cpu-cpuid.EXTENSION{each}"] = "true"
    node["metadata"]["annotations"] = {
        "node.alpha.kubernetes.io/ttl": "0",
        "nfd.node.kubernetes.io/feature-labels": ",".join(f"cpu-cpuid.EXTENSION{i}" for i in range(40)),
    }
    written = {
        f"f:{part}": {f"f:{field}-{i}": {".": {}, "f:value": {}} for i in range(10)}
        for part, field in (("labels", "label"), ("annotations", "note"), ("conditions", "condition"))
    }  # fmt: skip
    node["metadata"]["managedFields"] = [
        {"manager": who, "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
         "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": written}}
        for who in ("kubelet", "kube-controller-manager", "nfd-master")
    ]  # fmt: skip
    node["spec"] = {"podCIDR": "10.0.0.0/24", "providerID": f"example:///zone/{name}"}
    node["status"]["images"] = [
        {"names": [f"registry.example.com/team-{i}/image@sha256:{index:032x}{i:032x}",
                   f"registry.example.com/team-{i}/image:v1.{i}.0"], "sizeBytes": 123456789 + i}
        for i in range(36)
    ]  # fmt: skip
    return node


class LargeCallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.nodes = [whole_node(index) for index in range(NODES)]
        pod = gpu_pod("train", gpus=8)
        pod["metadata"]["uid"] = "u-train"
        call = {"Pod": pod, "Nodes": {"metadata": {}, "items": cls.nodes}, "NodeNames": None}
        cls.body = json.dumps(call, separators=(",", ":")).encode()

    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def daemon(self, **how):
        dump = self.directory / "nodes.json"
        slim = [{**each, "metadata": {"name": each["metadata"]["name"], "labels": each["metadata"]["labels"]},
                 "status": {**each["status"], "images": []}} for each in self.nodes]  # fmt: skip
        dump.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": slim}))
        return self.enterContext(Daemon(None, self.directory, flags=["--cluster", f"file:{dump}"], **how))

    def test_it_is_refused_by_its_length_and_told_which_setting_says_so(self):
        daemon = self.daemon()
        before = daemon.rss_mb()[1]
        link = http.client.HTTPConnection("127.0.0.1", daemon.extender_port, timeout=5)
        self.addCleanup(link.close)
        with contextlib.suppress(ConnectionError):  # the answer is there before all of it is sent
            link.request("POST", "/v1/extender/filter", self.body)
        answer = link.getresponse()
        status, text = answer.status, answer.read().decode()
        self.assertEqual(status, 413)
        self.assertIn("limits.maxBody", text)
        self.assertLess(daemon.rss_mb()[1] - before, 16, "nothing of it was kept")
        self.assertEqual(daemon.total("slackline_http_refused_total", reason="body_too_large"), 1)
        self.assertEqual(daemon.requests("filter"), 0)

    def test_it_is_answered_whole_where_the_setting_is_raised(self):
        daemon = self.daemon(settings=RAISED)
        begun = time.monotonic()
        status, text = daemon.post("/v1/extender/filter", self.body)
        took_s = time.monotonic() - begun
        self.assertEqual(status, 200)
        answer = json.loads(text)
        self.assertEqual(answer["Error"], "")
        self.assertEqual(answer["Nodes"]["items"], self.nodes, "each as it came, none left out")
        peak_mb = daemon.rss_mb()[1]
        print(f"{len(self.body) / 1e6:.0f} MB in {took_s:.2f} s, at most {peak_mb:.0f} MB resident ... ", end="")
        self.assertLess(took_s, patient(2))
        self.assertLess(peak_mb, 512)


if __name__ == "__main__":
    unittest.main()
