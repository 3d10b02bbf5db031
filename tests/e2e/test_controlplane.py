"""The harness itself, without our daemon: is this a Kubernetes that schedules as one should?"""

import pathlib
import unittest

from support.controlplane import KUBERNETES, ControlPlane, gpu_scheduler_config, stock_scheduler_config
from support.objects import gpu_pod, gpus_by_node, node_of, phase_of

ROOT = pathlib.Path(__file__).resolve().parents[2]


class ControlPlaneTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ControlPlane()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.add_gpu_nodes(4, 4, "K80")
        cls.cluster.start_scheduler(stock_scheduler_config(cls.cluster))

    def setUp(self):
        self.addCleanup(self.cluster.delete_all, "pod")

    def test_it_is_the_pinned_kubernetes(self):
        _, version = self.cluster.request("GET", "/version")
        self.assertEqual(version["gitVersion"], KUBERNETES)

    def test_of_twenty_one_gpu_pods_sixteen_run_and_four_wait(self):
        self.cluster.apply([gpu_pod(f"pod-{index:02}") for index in range(20)])

        def settled():
            pods = self.cluster.list("pod", "default")
            running = [pod for pod in pods if phase_of(pod) == "Running"]
            waiting = [pod for pod in pods if self._is_unschedulable(pod)]
            return len(running) == 16 and len(waiting) == 4

        self.cluster.wait(settled, 30, "16 pods to run and 4 to be unschedulable")
        taken = gpus_by_node(self.cluster.list("pod", "default"))
        self.assertEqual(taken, {f"node-{index}": 4 for index in range(4)})

    def test_a_pod_with_a_duration_succeeds_and_makes_room(self):
        self.cluster.apply([gpu_pod(f"short-{i}", gpus=4, duration="1s") for i in range(4)])
        self.cluster.apply([gpu_pod("next", gpus=4)])
        self.cluster.wait(lambda: node_of(self.cluster.get("pod", "default", "next")), 30, "the fifth to be bound")
        phases = [phase_of(pod) for pod in self.cluster.list("pod", "default")]
        self.assertIn("Succeeded", phases)

    def test_our_scheduler_configuration_loads_with_tls_and_ignores_an_absent_extender(self):
        config = gpu_scheduler_config(self.cluster, "https://127.0.0.1:1/v1/extender", schedulerName="with-extender")
        scheduler = self.cluster.start_scheduler(config, name="kube-scheduler-tls")
        self.addCleanup(scheduler.stop)
        self.cluster.apply([gpu_pod("alone", scheduler="with-extender")])
        self.cluster.wait(lambda: node_of(self.cluster.get("pod", "default", "alone")), 20, "it to be bound")

    def test_the_sample_jobs_are_valid(self):
        self.cluster.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", ROOT / "manifests/jobs")

    def test_our_service_account_may_read_and_bind_and_nothing_else(self):
        self.cluster.install_rbac()
        token = self.cluster.service_account_token("slackline-system", "slackline")
        allowed = ["nodes", "pods"]
        for what in allowed:
            self.assertEqual(self.cluster.request("GET", f"/api/v1/{what}", token=token)[0], 200)
        for path in ("/apis/batch/v1/jobs", "/apis/policy/v1/poddisruptionbudgets"):
            self.assertEqual(self.cluster.request("GET", path, token=token)[0], 200)
        for what in ("secrets", "configmaps", "services"):
            self.assertEqual(self.cluster.request("GET", f"/api/v1/{what}", token=token)[0], 403)
        pods = "/api/v1/namespaces/default/pods"
        status, _ = self.cluster.request("POST", pods, gpu_pod("stranger"), token=token)
        self.assertEqual(status, 403)
        self.cluster.apply([gpu_pod("mine", scheduler="nobody")])
        binding = {"metadata": {"name": "mine"}, "target": {"kind": "Node", "name": "node-0"}}
        status, reply = self.cluster.request("POST", f"{pods}/mine/binding", binding, token=token)
        self.assertEqual(status, 201, reply)

    @staticmethod
    def _is_unschedulable(pod):
        return any(
            each["type"] == "PodScheduled" and each.get("reason") == "Unschedulable"
            for each in pod["status"].get("conditions", [])
        )


if __name__ == "__main__":
    unittest.main()
