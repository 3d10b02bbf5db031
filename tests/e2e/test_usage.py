"""`slackline usage` on a real Prometheus that scrapes emulated exporters, in every way they are set up."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

from support.daemon import slackline_binary
from support.exporter import GIB, Container, Exporter, Gpu, Machine, Prometheus
from support.pki import Pki

STEP = "4s"  # four scrapes
SETTLED = 9  # scrapes: a rate over two steps, and one to spare


def node(name, product="NVIDIA-A100-SXM4-80GB"):
    size = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8", "nvidia.com/mig-1g.10gb": "7"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": name, "labels": {"nvidia.com/gpu.product": product}},
        "status": {"allocatable": size, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def pod(name, gpus, on="node-1", resource="nvidia.com/gpu"):
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 3600))
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ml", "uid": f"u-{name}", "creationTimestamp": started},
        "spec": {
            "nodeName": on,
            "containers": [{"name": "main", "resources": {"limits": {resource: str(gpus)}}}],
        },
        "status": {"phase": "Running", "startTime": started},
    }


@unittest.skipUnless(shutil.which("prometheus"), "no prometheus on this machine")
class UsageTest(unittest.TestCase):
    """One Prometheus for every way of scraping; what the exporter says changes from test to test."""

    def run_case(self, exporter, pods, nodes=(), honor_labels=(False, True), settle=SETTLED, **of_server):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(exporter.close)
        directory = pathlib.Path(folder.name)
        self.dump = directory / "cluster.json"
        self.dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node("node-1"), *nodes, *pods]}))
        self.servers = []
        for honor in honor_labels:
            server = Prometheus(exporter, directory / f"honor-{honor}", honor, **of_server).start()
            self.addCleanup(server.kill)
            self.servers.append(server)
        for server in self.servers:
            server.wait_scraped(1 + settle)

    def usage(self, server, *arguments, since=STEP, exit_code=0):
        done = subprocess.run(
            [
                slackline_binary(), "usage", "--cluster", f"file:{self.dump}", "--prometheus", server.url,
                "--step", STEP, "--since", since, "-o", "json", *arguments,
            ],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, exit_code, done.stderr + done.stdout)
        answer = json.loads(done.stdout)
        return {item["task"]: item for item in answer["items"]}, answer["remarks"]

    def test_exclusive_gpus_are_measured_however_they_are_scraped(self):
        exporter = Exporter(
            gpus=[
                Gpu("GPU-a", index=0, util=90, fb_used=40960, fb_free=40960, pod="ml/train"),
                Gpu("GPU-b", index=1, util=30, fb_used=20480, fb_free=61440, pod="ml/train"),
                Gpu("GPU-c", index=2, util=77, fb_used=1000),
            ],
            containers=[
                Container("ml/train", "main", cores=2, memory=2 * GIB),
                Container("ml/train", "sidecar", cores=0.5, memory=GIB),
            ],
        )
        self.run_case(exporter, [pod("train", 2), pod("dark", 1)], scrapes=2)
        for server in self.servers:
            tasks, remarks = self.usage(server)
            self.assertEqual(remarks, [])
            train = tasks["ml/train"]
            self.assertEqual(train["gpus"], "measured")
            self.assertAlmostEqual(train["gpuShare"]["mean"], 0.6)
            self.assertAlmostEqual(train["gpuShare"]["max"], 0.9)
            self.assertAlmostEqual(train["gpuMemoryShare"]["mean"], 0.375)
            self.assertAlmostEqual(train["gpuMemoryShare"]["max"], 0.5)
            self.assertAlmostEqual(train["cpuCores"]["mean"], 2.5, delta=0.1)
            self.assertEqual(train["memoryBytes"]["max"], 3 * GIB)
            self.assertEqual(train["gapSeconds"], 0)
            dark = tasks["ml/dark"]
            self.assertEqual((dark["gpus"], dark["gapSeconds"]), ("unknown", 4), "its GPU is nobody's")
            self.assertNotIn("gpuShare", dark)
            self.check_that_the_configuration_will_do(server, train)
            only, _ = self.usage(server, "ml/train", since="8s")
            self.assertEqual(list(only), ["ml/train"])
            self.assertAlmostEqual(only["ml/train"]["gpuShare"]["mean"], 0.6)

    def check_that_the_configuration_will_do(self, server, known):
        config = self.dump.with_name("slackline.yaml")
        config.write_text(
            "apiVersion: config.slackline.dev/v1alpha1\nkind: SlacklineConfiguration\n"
            f"telemetry: {{prometheus: {{url: '{server.url}'}}, step: {STEP}}}\n"
        )
        command = [slackline_binary(), "usage", "--cluster", f"file:{self.dump}", "--config", config, "-o", "json"]
        done = subprocess.run([*command, "--since", STEP], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        tasks = {item["task"]: item for item in json.loads(done.stdout)["items"]}
        self.assertEqual(tasks["ml/train"]["gpuShare"], known["gpuShare"])

    def test_mig_instances_are_measured_by_their_counters(self):
        mig = dict(node="node-1", index=0, profile="1g.10gb", util=0, fb_used=4864, fb_free=4864)
        exporter = Exporter(
            gpus=[
                Gpu("GPU-a", instance="7", engine=0.25, pod="ml/mig", **mig),
                Gpu("GPU-a", instance="9", engine=0.75, pod="ml/other", **mig),
            ],
            node_label="Hostname",
        )
        pods = [pod(name, 1, resource="nvidia.com/mig-1g.10gb") for name in ("mig", "other")]
        self.run_case(exporter, pods, settle=5)
        for server in self.servers:
            tasks, remarks = self.usage(server)
            self.assertEqual(tasks["ml/mig"]["gpus"], "measured")
            self.assertEqual(tasks["ml/mig"]["gpuShare"]["mean"], 0.25)
            self.assertEqual(tasks["ml/other"]["gpuShare"]["mean"], 0.75)
            self.assertEqual(tasks["ml/mig"]["gpuMemoryShare"]["mean"], 0.5)
            self.assertEqual(len(remarks), 2, "CPU and memory are not exported")

    def test_time_sliced_gpus_are_shared_in_every_way_that_exporters_tell_it(self):
        by_process = Exporter(gpus=[Gpu("GPU-a", util=70, fb_used=100, pod="ml/one", sharers=("ml/two",))])
        self.run_case(by_process, [pod("one", 1), pod("two", 1)], settle=5)
        for server in self.servers:
            tasks, _ = self.usage(server)
            self.assertEqual({tasks["ml/one"]["gpus"], tasks["ml/two"]["gpus"]}, {"shared"})
        last_one_wins = Exporter(gpus=[Gpu("GPU-a", node="sliced", util=70, fb_used=100, pod="ml/one")])
        self.run_case(
            last_one_wins,
            [pod("one", 1, on="sliced"), pod("two", 1, on="sliced")],
            nodes=[node("sliced", "NVIDIA-T4-SHARED")],
            settle=5,
        )
        for server in self.servers:
            tasks, _ = self.usage(server)
            self.assertEqual(tasks["ml/one"]["gpus"], "shared")
            self.assertEqual(tasks["ml/two"]["gpus"], "unknown")

    def test_what_was_not_measured_is_a_gap_and_a_counter_may_begin_again(self):
        exporter = Exporter(
            gpus=[Gpu("GPU-a", util=50, fb_used=100, pod="ml/train")],
            containers=[Container("ml/train", "main", cores=1, seconds=10_000)],
        )
        self.run_case(exporter, [pod("train", 1)], honor_labels=(False,))
        [server] = self.servers
        exporter.reset_counters()
        time.sleep(5)  # so old is what was scraped before: a step and more
        train = self.usage(server, since="8s")[0]["ml/train"]
        self.assertEqual(train["gapSeconds"], 0)
        self.assertLess(train["cpuCores"]["max"], 1.5, "a counter that fell is no use of 10,000 s")
        exporter.not_a_number = True
        time.sleep(5)  # so old is what was scraped before: a step and more
        train = self.usage(server)[0]["ml/train"]
        self.assertNotIn("gpuShare", train, "NaN measures nothing")
        self.assertIn("cpuCores", train)
        self.assertEqual(train["gpus"], "unknown")
        exporter.not_a_number, exporter.down = False, True
        time.sleep(10)  # CPU is a rate over two steps
        train = self.usage(server, exit_code=4)[0]["ml/train"]
        self.assertEqual(train["gapSeconds"], 4, "the last sample does not live on for five minutes")
        self.assertNotIn("gpuShare", train)
        exporter.down = False
        time.sleep(5)  # so old is what was scraped before: a step and more
        train = self.usage(server, since="24s")[0]["ml/train"]
        self.assertAlmostEqual(train["gpuShare"]["mean"], 0.5)
        self.assertGreaterEqual(train["gapSeconds"], 8)
        self.assertLess(train["gapSeconds"], 24)

    def test_an_exporter_without_pods_measures_nobody(self):
        exporter = Exporter(gpus=[Gpu("GPU-a", util=50, pod="ml/train")], pod_labels=False)
        self.run_case(exporter, [pod("train", 1)], settle=5)
        for server in self.servers:
            tasks, remarks = self.usage(server, exit_code=4)
            self.assertEqual(tasks["ml/train"]["gpus"], "unknown")
            self.assertRegex("\n".join(remarks), "GPU_UTIL.* that name these pods")

    def test_a_server_with_a_prefix_is_asked_over_tls_if_its_authority_is_known(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        pki = Pki(folder.name)
        exporter = Exporter(gpus=[Gpu("GPU-a", util=50, fb_used=100, pod="ml/train")])
        self.run_case(exporter, [pod("train", 1)], honor_labels=(False,), settle=5, pki=pki, prefix="/prom")
        [server] = self.servers
        self.assertRegex(server.url, "^https://.*/prom$")
        tasks, _ = self.usage(server, "--prometheus-ca-file", pki.crt("ca"))
        self.assertAlmostEqual(tasks["ml/train"]["gpuShare"]["mean"], 0.5)
        command = [slackline_binary(), "usage", "--cluster", f"file:{self.dump}", "--prometheus", server.url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 3, "an unknown authority is not trusted")
        self.assertIn("certificate", done.stderr)

    def test_mistakes_are_said_with_what_to_do(self):
        exporter = Exporter()
        self.run_case(exporter, [pod("train", 1)], honor_labels=(False,), settle=0)
        [server] = self.servers

        def failure(*arguments):
            command = [slackline_binary(), "usage", "--cluster", f"file:{self.dump}", *arguments]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            return done.returncode, done.stderr

        code, said = failure()
        self.assertEqual(code, 3)
        self.assertIn("give --prometheus URL, or --config", said)
        code, said = failure("--prometheus", server.url + "/prefix")
        self.assertEqual(code, 3)
        self.assertIn("no Prometheus is at this path: check its prefix", said)
        code, said = failure("--prometheus", server.url, "ml/none")
        self.assertEqual(code, 3)
        self.assertIn("no task ml/none with GPUs is running", said)
        code, said = failure("--prometheus", "prometheus:9090")
        self.assertEqual(code, 3)
        self.assertIn("write http(s)://HOST[:PORT][/PREFIX]", said)
        server.kill()
        code, said = failure("--prometheus", server.url)
        self.assertEqual(code, 3)
        self.assertIn(server.url, said)

    def test_the_exporters_texts_are_what_promtool_takes(self):
        if not shutil.which("promtool"):
            self.skipTest("no promtool on this machine")
        exporter = Exporter(
            gpus=[Gpu("GPU-a", pod="ml/a", sharers=("ml/b",)), Gpu("GPU-b", engine=1, profile="1g.10gb", instance="1")],
            containers=[Container("ml/a", "main")],
            machines=[Machine("node-1", cores=1, memory=GIB, received=1)],
        )
        self.addCleanup(exporter.close)
        for text in (exporter.dcgm(), exporter.cadvisor(), exporter.kube_state_metrics()):
            done = subprocess.run(
                ["promtool", "check", "metrics"], input=text, text=True, capture_output=True, check=False
            )
            self.assertIn(done.returncode, (0, 3), f"{done.stderr}\n{text}")  # 3: names that its style guide dislikes
            self.assertNotIn("error while linting", done.stderr)


if __name__ == "__main__":
    unittest.main()
