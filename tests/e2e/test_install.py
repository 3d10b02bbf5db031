"""What `kubectl apply -k` installs: it is admitted, it works as it is, and it goes."""

import json
import os
import subprocess
import unittest

from support.controlplane import DAEMON_USER, ROOT, ControlPlane, stock_scheduler_config
from support.daemon import slackline, slackline_binary
from support.helm import rendered
from support.installation import (
    BASE,
    SYSTEM,
    PodInstallation,
    apply_base,
    documents,
    install_in_pods,
    parsed,
    wait_webhook,
)
from support.objects import MANAGED, TEAM, gpu_job, gpu_pod, name_of, node_of

REMOVE = ROOT / "deploy/remove"
RELEASE = "slackline-release"
NEIGHBOUR = f"system:serviceaccount:{SYSTEM}:gpu-scheduler"  # kube-scheduler in Slackline's pod
# Granted, and not needed here: after an unanswered binding, when a stop is booked, when an Event repeats. Other tests
# see them. Rights of slackline.dev are looked at by the other replica.
SELDOM = {
    "get pods", "create configmaps", "update configmaps", "patch events", "create pods/eviction",
    "get portraits.slackline.dev", "get history.slackline.dev", "get models.slackline.dev", "get decisions.slackline.dev",
    *(f"get {each}.kubeflow.org" for each in ("pytorchjobs", "tfjobs", "xgboostjobs", "paddlejobs", "jaxjobs", "mpijobs")),
    "get rayclusters.ray.io", "get rayjobs.ray.io", "get jobsets.jobset.x-k8s.io", "get trainjobs.trainer.kubeflow.org",
    "get appwrappers.workload.codeflare.dev", "get leaderworkersets.leaderworkerset.x-k8s.io",
}  # fmt: skip


def install(cluster):
    cluster.add_gpu_nodes(2, 4, "K80", prefix="k80")
    apply_base(cluster)
    cluster.add_namespace(TEAM, MANAGED)
    installed = PodInstallation(cluster)
    installed.run()
    installed.wait_active(TEAM)
    return installed


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ControlPlane()
        cls.addClassCleanup(cls.cluster.close)
        cls.installed = install(cls.cluster)

    def test_every_manifest_is_accepted(self):
        for folder in ("base", "kube-scheduler/pod", "remove", "rbac", "webhook", "api", "proxy"):
            with self.subTest(folder):
                said = self.cluster.kubectl(
                    "apply", "--dry-run=server", "--validate=strict", "-k", ROOT / "deploy" / folder
                )
                self.assertIn("(server dry run)", said)

    def test_the_shipped_configurations_have_no_findings(self):
        daemon, scheduler = BASE / "slackline.yaml", ROOT / "deploy/kube-scheduler/pod/configuration.yaml"
        said = slackline("check", "--config", daemon, "--scheduler", scheduler)
        self.assertEqual(said, f"{daemon}: no findings\n{scheduler}: no findings\n")

    def test_a_job_is_bound_through_what_was_installed(self):
        before = self.installed.daemon.requests("filter", result="ok")
        self.cluster.apply([gpu_job("train", gpus=2, annotations={"deadline-after": "6h"})])
        (pod,) = self.cluster.wait_bound("train", namespace=TEAM)
        job = self.cluster.get("job", TEAM, "train")
        plan = json.loads(job["metadata"]["annotations"]["slackline.dev/plan"])
        self.assertEqual(plan["nodes"], [node_of(pod)])
        self.assertGreater(self.installed.daemon.requests("filter", result="ok"), before)
        self.assertEqual(self.cluster.binders()[name_of(pod)], DAEMON_USER)
        lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/gpu-scheduler"
        self.assertEqual(self.cluster.request("GET", lease)[0], 200, "it has a Lease of its own")
        log = self.cluster.parts["gpu-scheduler"].log.read_text()
        self.assertNotIn("forbidden", log)
        self.assertNotIn("x509", log)

    def ask(self, *question, token, ca):
        """What the command line says of the listener for people, and whether it was answered."""
        done = subprocess.run(
            [slackline_binary(), *question, "--server", f"https://localhost:{self.installed.daemon.remote_port}",
             "--ca-file", ca],
            text=True, capture_output=True, check=False, env={**os.environ, "SLACKLINE_TOKEN": token},
        )  # fmt: skip
        return done.returncode == 0, done.stdout + done.stderr

    def people_trust(self, token=None):
        """The file of the authority that everybody whom the cluster knows is told of."""
        path = f"/api/v1/namespaces/{SYSTEM}/configmaps/slackline-api-ca"
        status, trust = self.cluster.request("GET", path, token=token)
        self.assertEqual(status, 200)
        ca = self.cluster.directory / "slackline-ca.crt"
        ca.write_text(trust["data"]["ca.crt"])
        return ca

    def test_researchers_can_ask(self):
        cluster = self.cluster
        cluster.kubectl("create", "serviceaccount", "jane", "-n", TEAM)
        cluster.kubectl("create", "rolebinding", "jane", "-n", TEAM, "--clusterrole=view",
                        f"--serviceaccount={TEAM}:jane")  # fmt: skip
        token = cluster.service_account_token(TEAM, "jane")
        ca = self.people_trust(token)
        cluster.apply([gpu_job("asked-about")])
        cluster.wait(lambda: "asked-about" in self.ask("queue", "-n", TEAM, token=token, ca=ca)[1], 20, "her queue")
        answered, said = self.ask("queue", token=token, ca=ca)
        self.assertFalse(answered)
        self.assertIn("in all namespaces", said)
        answered, said = self.ask("queue", "-n", TEAM, token=token, ca=cluster.pki.crt("ca"))
        self.assertFalse(answered)
        self.assertIn("cannot be verified", said)

    def test_the_rights_are_those_that_are_used(self):
        self.ask("queue", token=self.cluster.service_account_token(SYSTEM, "slackline"), ca=self.people_trust())
        self.cluster.apply([gpu_job("again", annotations={"qos-class": "urgent"})])
        self.cluster.wait_bound("again", namespace=TEAM)
        seldom_done = {"create events", "list nodes", "list poddisruptionbudgets.policy"}
        self.cluster.wait(lambda: self.used() >= seldom_done, 20, "its Event and an audit")
        refused = [
            event["requestURI"] for event in self.daemon_audit() if event.get("responseStatus", {}).get("code") == 403
        ]
        self.assertEqual(refused, [])
        granted = self.granted()
        self.assertLess({"patch jobs.batch", "patch pods/status", "create pods/binding"}, granted)
        self.assertEqual(sorted(granted - self.used() - SELDOM), [], "granted and never used")

    def test_the_safety_net_does_nothing_while_somebody_plans(self):
        (cron,) = [each for each in documents(self.cluster, BASE) if each["kind"] == "CronJob"]
        pod = cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        self.assertEqual(pod["serviceAccountName"], RELEASE)
        said = slackline(*pod["containers"][0]["args"], "--kubeconfig", self.installed.release_kubeconfig())
        self.assertIn("a planner is running", said)

    def secrets(self):
        """{name: (type, data)} of those that Slackline fills."""
        return {
            name_of(each): (each["type"], each.get("data"))
            for each in self.cluster.list("secret", SYSTEM)
            if name_of(each).startswith("slackline-")
        }

    def made_by_an_older_version(self, name, kind):
        """The same content in a Secret that Slackline made itself, as it did once."""
        data = self.cluster.get("secret", SYSTEM, name)["data"]
        self.cluster.kubectl("-n", SYSTEM, "delete", "secret", name)
        metadata = {"name": name, "namespace": SYSTEM, "labels": {"app.kubernetes.io/name": "slackline"}}
        made = {"apiVersion": "v1", "kind": "Secret", "type": kind, "metadata": metadata, "data": data}
        status, said = self.cluster.request("POST", self.cluster.collection("secret", SYSTEM), made)
        self.assertEqual(status, 201, said)

    def test_applying_again_keeps_what_slackline_wrote(self):
        for name in ("slackline-api-tls", "slackline-webhook-tls"):
            self.made_by_an_older_version(name, "kubernetes.io/tls")
        self.made_by_an_older_version("slackline-plan-key", "Opaque")
        written = self.secrets()
        self.assertEqual(len(written), 3)
        self.assertTrue(all(data for _, data in written.values()), written.keys())
        self.addCleanup(wait_webhook, self.cluster, TEAM)
        self.addCleanup(self.installed.point_webhooks_here)
        apply_base(self.cluster)
        self.assertEqual(self.secrets(), written)
        for kind in ("mutating", "validating"):
            with self.subTest(kind):
                found = self.cluster.get(f"{kind}webhookconfiguration", None, "slackline")
                without = [each["name"] for each in found["webhooks"] if not each["clientConfig"].get("caBundle")]
                self.assertEqual(without, [])

    def test_network_policies_fit_what_they_protect(self):
        base = documents(self.cluster, BASE)
        policies = {name_of(each): each["spec"] for each in base if each["kind"] == "NetworkPolicy"}
        remote = policies.pop("slackline-api")
        (daemons,) = [each["spec"]["template"] for each in base if each["kind"] == "StatefulSet"]
        (cron,) = [each["spec"]["jobTemplate"]["spec"] for each in base if each["kind"] == "CronJob"]
        job = self.remove_job()
        pods = {"slackline": [daemons], RELEASE: [cron["template"], job["spec"]["template"]]}
        self.assertEqual(policies.keys(), pods.keys())
        for name in pods:
            selector = policies[name]["podSelector"]["matchLabels"].items()
            self.assertEqual(policies[name]["policyTypes"], ["Ingress"])
            for others in pods:
                for template in pods[others]:
                    chosen = selector <= template["metadata"]["labels"].items()
                    self.assertEqual(chosen, others == name, f"{name} and the pods of {others}")
        self.assertNotIn("ingress", policies[RELEASE], "it serves nobody")
        opened = {port["port"]: rule["from"] for rule in policies["slackline"]["ingress"] for port in rule["ports"]}
        served = {each["containerPort"] for container in daemons["spec"]["containers"] for each in container["ports"]}
        self.assertEqual(opened.keys(), served - {8183})
        anybody = [{"ipBlock": {"cidr": "0.0.0.0/0"}}, {"ipBlock": {"cidr": "::/0"}}]
        for port, peers in opened.items():
            with self.subTest(port):
                self.assertEqual(peers == anybody, port == 10250)
                self.assertTrue(all(peers), "an empty peer or list would be everybody")
        policies["slackline-api"] = remote
        proxy = documents(self.cluster, ROOT / "deploy/proxy")
        policies |= {name_of(each): each["spec"] for each in proxy if each["kind"] == "NetworkPolicy"}
        for name, port in (("slackline-api", 8183), ("slackline-view", 8184)):
            self.assertEqual(policies[name]["podSelector"], policies["slackline"]["podSelector"])
            self.assertEqual(policies[name]["ingress"][0]["ports"], [{"port": port, "protocol": "TCP"}])

    def test_what_must_run_is_not_evicted(self):
        base = documents(self.cluster, BASE)
        (quota,) = [each["spec"] for each in base if each["kind"] == "ResourceQuota"]
        (allowed,) = quota["scopeSelector"]["matchExpressions"]
        for each in [*base, self.remove_job()]:
            spec = each.get("spec", {})
            template = spec.get("jobTemplate", {}).get("spec", spec).get("template")
            if template:
                self.assertEqual([template["spec"]["priorityClassName"]], allowed["values"], name_of(each))

    def test_services_choose_the_daemons_only(self):
        objects = documents(self.cluster, BASE)
        (daemons,) = [each for each in objects if each["kind"] == "StatefulSet"]
        (cron,) = [each for each in objects if each["kind"] == "CronJob"]
        labels = daemons["spec"]["template"]["metadata"]["labels"]
        others = cron["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"]
        ports = {each["name"] for each in daemons["spec"]["template"]["spec"]["containers"][0]["ports"]}
        services = [each for each in objects if each["kind"] == "Service"]
        self.assertEqual(len(services), 3)
        for service in services:
            selector = service["spec"]["selector"].items()
            self.assertLessEqual(selector, labels.items(), name_of(service))
            self.assertFalse(selector <= others.items(), name_of(service))
            for port in service["spec"]["ports"]:
                self.assertIn(port["targetPort"], ports | {8183})

    # ---- words the tests are written in --------------------------------------------------------

    def remove_job(self):
        (job,) = [each for each in documents(self.cluster, REMOVE) if each["kind"] == "Job"]
        return job

    def daemon_audit(self):
        return audit_of(self.cluster, DAEMON_USER)

    def used(self):
        return used_by(self.cluster, DAEMON_USER)

    def granted(self):
        return granted_to(self.cluster, "slackline")


def audit_of(cluster, user):
    return [each for each in cluster.audit() if each["user"]["username"] == user]


def used_by(cluster, user):
    """ "verb resource" of every request of that user that was allowed."""
    return {
        right_of(event["verb"], event["objectRef"])
        for event in audit_of(cluster, user)
        if "objectRef" in event and event.get("responseStatus", {}).get("code") != 403
    }


def granted_to(cluster, account):
    """ "verb resource" of every rule that is bound to a ServiceAccount."""
    return rights_in(documents(cluster, BASE), account)


def rights_in(objects, account):
    roles = {
        (each["kind"], name_of(each)): each["rules"] for each in objects if each["kind"] in ("Role", "ClusterRole")
    }
    rules = [
        rule
        for each in objects
        if each["kind"].endswith("RoleBinding") and each["subjects"][0]["name"] == account
        for rule in roles[each["roleRef"]["kind"], each["roleRef"]["name"]]
    ]
    return {
        right_of(verb, {"apiGroup": group, "resource": resource})
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def right_of(verb, what):
    resource = what["resource"]
    if what.get("subresource"):
        resource += "/" + what["subresource"]
    return f"{verb} {resource}" + (f".{what['apiGroup']}" if what.get("apiGroup") else "")


class PodFormTest(unittest.TestCase):
    """The chart with kube-scheduler as the second container of Slackline's pods."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = ControlPlane()
        cls.addClassCleanup(cls.cluster.close)
        cls.installed = install_in_pods(cls.cluster)

    def token(self, container):
        path = self.installed.mounted(container) / "var/run/secrets/kubernetes.io/serviceaccount/token"
        return path.read_text()

    def test_with_slackline_and_without(self):
        cluster, daemon = self.cluster, self.installed.daemon
        before = daemon.requests("filter", result="ok")
        cluster.apply([gpu_job("asks", gpus=2)])
        (pod,) = cluster.wait_bound("asks", namespace=TEAM)
        self.assertIn("slackline.dev/plan", cluster.get("job", TEAM, "asks")["metadata"]["annotations"])
        self.assertGreater(daemon.requests("filter", result="ok"), before)
        self.assertEqual(cluster.binders()[name_of(pod)], DAEMON_USER)

        daemon.kill()
        cluster.apply([gpu_job("alone", gpus=2, scheduler="gpu-scheduler")])
        (pod,) = cluster.wait_bound("alone", namespace=TEAM)
        self.assertEqual(cluster.binders()[name_of(pod)], NEIGHBOUR)
        self.assertTrue(cluster.parts["gpu-scheduler"].alive())
        log = cluster.parts["gpu-scheduler"].log.read_text()
        self.assertNotIn("forbidden", log)

        daemon.start()
        self.installed.wait_active(TEAM)
        before = daemon.requests("bind")
        cluster.apply([gpu_job("again", gpus=1)])
        cluster.wait_bound("again", namespace=TEAM)
        self.assertGreater(daemon.requests("bind"), before, "it is asked again")
        lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/gpu-scheduler"
        self.assertEqual(cluster.request("GET", lease)[0], 200, "the Lease that it had beside")

    def test_each_container_has_an_account_of_its_own(self):
        spec = self.installed.spec
        self.assertFalse(spec["automountServiceAccountToken"])
        mounts = {
            name: {each["name"] for each in self.installed.container(name)["volumeMounts"]}
            for name in ("slackline", "kube-scheduler")
        }
        self.assertEqual(mounts["slackline"] & mounts["kube-scheduler"], set())
        for container, user in (("slackline", DAEMON_USER), ("kube-scheduler", NEIGHBOUR)):
            review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
            path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
            status, said = self.cluster.request("POST", path, review, token=self.token(container))
            self.assertEqual((status, said["status"]["userInfo"]["username"]), (201, user))

    def test_slackline_cannot_become_its_neighbour(self):
        token = self.token("slackline")
        secrets = self.cluster.collection("secret", SYSTEM)
        for name in ("gpu-scheduler-token", "?limit=1"):
            status, _ = self.cluster.request("GET", f"{secrets}/{name}".replace("/?", "?"), token=token)
            self.assertEqual(status, 403, name)
        account = f"/api/v1/namespaces/{SYSTEM}/serviceaccounts/gpu-scheduler/token"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        self.assertEqual(self.cluster.request("POST", account, request, token=token)[0], 403)
        for kind in ("kubernetes.io/service-account-token", "Opaque"):
            secret = {"apiVersion": "v1", "kind": "Secret", "type": kind, **self.lent("lent")}
            status, said = self.cluster.request("POST", f"{secrets}?dryRun=All", secret, token=token)
            self.assertEqual(status, 403, said)
        ours = f"{secrets}/slackline-webhook-tls"
        turned = {"type": "kubernetes.io/service-account-token", **self.lent("slackline-webhook-tls")}
        status, said = self.cluster.request("PATCH", f"{ours}?dryRun=All", turned, token=token)
        self.assertEqual((status, "field is immutable" in str(said)), (422, True), said)
        self.assertEqual(self.cluster.request("DELETE", f"{ours}?dryRun=All", token=token)[0], 403)

    @staticmethod
    def lent(name):
        """Metadata by which Kubernetes fills a Secret of the right type with gpu-scheduler's token."""
        return {
            "metadata": {
                "name": name,
                "namespace": SYSTEM,
                "annotations": {"kubernetes.io/service-account.name": "gpu-scheduler"},
            }
        }

    def test_its_rights_are_no_more_than_beside(self):
        inside = documents(self.cluster, BASE)
        beside = parsed(self.cluster, rendered("mode: active\nkubeScheduler: {form: beside}", SYSTEM, "--no-hooks"))
        self.assertLessEqual(rights_in(inside, "slackline"), rights_in(beside, "slackline"))
        self.assertEqual(rights_in(inside, "slackline-release"), rights_in(beside, "slackline-release"))

        def bound(objects):
            return {
                (each["kind"], name_of(each), each["roleRef"]["name"])
                for each in objects
                if each["kind"].endswith("RoleBinding") and each["subjects"][0]["name"] == "gpu-scheduler"
            }

        self.assertEqual(bound(inside), bound(beside), "kube-scheduler's own, and one Lease")


class PodTakeoverTest(unittest.TestCase):
    """A pod ends with both of its containers, while Jobs come."""

    def test_the_other_replica_schedules(self):
        cluster = ControlPlane()
        self.addCleanup(cluster.close)
        first, second = install_in_pods(cluster), PodInstallation(cluster, "-1")
        second.run_as_installed()
        jobs = [gpu_job(f"load-{i}", gpus=1, scheduler="gpu-scheduler") for i in range(8)]
        cluster.apply(jobs[:4])
        for job in jobs[:4]:
            cluster.wait_bound(name_of(job), namespace=TEAM)
        self.assertEqual(second.daemon.requests("bind"), 0, "one kube-scheduler schedules, and asks its neighbour")
        cluster.apply(jobs[4:])
        cluster.kill("gpu-scheduler")
        first.daemon.kill()
        pods = [cluster.wait_bound(name_of(job), namespace=TEAM, timeout=60)[0] for job in jobs]
        self.assertEqual(sorted(map(node_of, pods)), ["k80-0"] * 4 + ["k80-1"] * 4)
        cluster.delete_all("job", TEAM)
        cluster.delete_all("pod", TEAM)
        before = second.daemon.requests("bind", result="ok")
        cluster.apply([gpu_job("after", gpus=1, scheduler="gpu-scheduler")])
        (pod,) = cluster.wait_bound("after", namespace=TEAM)
        self.assertEqual(cluster.binders()[name_of(pod)], DAEMON_USER)
        self.assertGreater(second.daemon.requests("bind", result="ok"), before)


class WayBackTest(unittest.TestCase):
    """Jobs wait; then active mode is turned off, or everything is removed."""

    def setUp(self):
        self.cluster = cluster = ControlPlane()
        self.addCleanup(cluster.close)
        self.installed = install(cluster)
        cluster.start_scheduler(stock_scheduler_config(cluster, "default-scheduler"))
        cluster.apply([gpu_pod(f"wall-{i}", gpus=4) for i in range(2)])
        cluster.wait(lambda: all(map(node_of, cluster.list("pod", "default"))), 30, "the cluster to be full")
        cluster.apply([gpu_job("waits", gpus=2), gpu_job("gang", gpus=2, pods=2)])
        self.assertEqual(self.suspended(), ["gang", "waits"])

    def suspended(self):
        jobs = self.cluster.list("job", TEAM)
        return sorted(name_of(job) for job in jobs if job["spec"]["suspend"])

    def both_run(self):
        self.cluster.delete_all("pod")  # room for what waited
        self.cluster.wait_bound("waits", namespace=TEAM)
        self.cluster.wait_bound("gang", 2, namespace=TEAM)

    def test_leaving_active_mode_releases_all_tasks(self):
        cluster = self.cluster
        (cluster.directory / "mode.yaml").write_text(
            cluster.kubectl("-n", SYSTEM, "get", "configmap", "slackline", "-o", "yaml").replace(
                "mode: active", "mode: advise"
            )
        )
        cluster.kubectl("apply", "-f", cluster.directory / "mode.yaml")
        self.installed.restart()
        self.assertEqual(self.suspended(), ["gang", "waits"], "another replica may still plan")
        cluster.wait(lambda: not self.suspended(), 45, "the Jobs to be given back")
        cluster.apply([gpu_job("after")])
        self.assertEqual(self.suspended(), [], "nothing is queued any more")
        self.both_run()

    def rights_of_release_are_those_that_are_used(self):
        user = f"system:serviceaccount:{SYSTEM}:{RELEASE}"
        refused = [
            each["requestURI"]
            for each in audit_of(self.cluster, user)
            if each.get("responseStatus", {}).get("code") == 403
        ]
        self.assertEqual(refused, [])
        granted = granted_to(self.cluster, RELEASE) | rights_in(documents(self.cluster, REMOVE), RELEASE)
        self.assertEqual(sorted(used_by(self.cluster, user) - granted), [])
        # Nominations; where no Lease is left; of gangs that controllers make (test_uninstall).
        seldom = {"patch pods/status", "create leases.coordination.k8s.io", "delete pods"}
        seldom |= {each for each in granted if each.startswith("list ")}  # a watch may begin with the list
        self.assertEqual(sorted(granted - used_by(self.cluster, user) - seldom), [], "granted and never used")

    def test_removed_nothing_of_ours_is_in_the_way(self):
        installed, cluster = self.installed, self.cluster
        cluster.apply([gpu_pod("bare", namespace=TEAM)])
        self.assertEqual(installed.daemon.stop(), 0)  # what a kubelet does when there are to be no replicas
        cluster.kubectl("apply", "--validate=strict", "-k", REMOVE)
        code, said = installed.run_remove_job()
        self.assertEqual(code, 0, said)
        self.assertIn("released 2 Jobs", said)
        self.assertEqual(cluster.get("statefulset", SYSTEM, "slackline")["spec"]["replicas"], 0)
        self.rights_of_release_are_those_that_are_used()
        cluster.kubectl("delete", "-k", REMOVE)
        cluster.kubectl("delete", "-k", BASE, "--ignore-not-found", "--wait=false")
        cluster.wait(lambda: not cluster.get("namespace", None, SYSTEM), 60, "the namespace to go")
        left = cluster.kubectl(
            "get", "clusterroles,clusterrolebindings,mutatingwebhookconfigurations,"
            "validatingwebhookconfigurations", "-l", "app.kubernetes.io/name=slackline", "-o", "name",
        )  # fmt: skip
        self.assertEqual(left, "")
        self.both_run()
        cluster.delete_all("job", TEAM)
        cluster.delete_all("pod", TEAM)
        cluster.apply([gpu_job("stock", gpus=4, pods=2)])
        self.assertFalse(cluster.get("job", TEAM, "stock")["spec"]["suspend"])
        for pod in cluster.wait_bound("stock", 2, namespace=TEAM):
            self.assertFalse(pod["spec"].get("schedulingGates"))
            self.assertNotEqual(cluster.binders()[name_of(pod)], DAEMON_USER)


if __name__ == "__main__":
    unittest.main()
