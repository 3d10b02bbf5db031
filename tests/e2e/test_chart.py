"""The Helm chart: what deploy/ has is its rendering, wrong values are refused by name, and helm installs, upgrades, rolls
back and uninstalls it on a real API server."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import textwrap
import unittest

from support.controlplane import KUBERNETES, MINOR, ROOT, ControlPlane
from support.daemon import slackline, slackline_binary
from support.helm import CHART, helm, rendered
from support.installation import SYSTEM, Installation, PodInstallation, webhook_manifests
from support.objects import MANAGED, TEAM, gpu_job, name_of

RUNBOOKS = "https://slackline.example/docs/ALERTS.md"
TAG = f"kubeScheduler.tag={KUBERNETES}"
FULL = """
mode: active
config: {planner: {policy: savable}}
image: {repository: registry.example/slackline, digest: "sha256:%s"}
imagePullSecrets: [{name: registry}]
nodeSelector: {kubernetes.io/os: linux}
tolerations: [{key: critical, operator: Exists}]
priorityClassName: system-node-critical
replicas: 3
resources: {requests: {cpu: 1, memory: 1Gi}}
affinity:
  podAntiAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector: {matchLabels: {app.kubernetes.io/component: daemon}}
topologySpreadConstraints:
  - {topologyKey: rack, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}
podLabels: {team: platform}
podAnnotations: {example.com/a: b}
extraArgs: [--log-level=debug]
extraEnv: [{name: HTTPS_PROXY, value: "http://proxy.example:3128"}]
extraVolumes: [{name: extra, emptyDir: {}}]
extraVolumeMounts: [{name: extra, mountPath: /extra}]
serviceAccountAnnotations: {example.com/role: reader}
podDisruptionBudget: {maxUnavailable: 50%%}
storage: {className: fast, size: 5Gi}
webhook: {port: 9443}
networkPolicy: {controlPlaneCIDRs: [10.0.0.0/28], apiCIDRs: [192.0.2.0/24, "2001:db8::/32"], monitoringNamespaces: [observe]}
kubeScheduler: {managedResources: [nvidia.com/gpu, amd.com/gpu], replicas: 1}
podMonitor: {enabled: true, labels: {release: monitoring}}
prometheusRule: {enabled: true, labels: {release: rules}, runbooks: "https://wiki.example/slackline"}
dashboards: {enabled: true, labels: {folder: gpus}}
openshift: true
""" % ("a" * 64)
GIVEN = """
certificates:
  source: given
  given: {extender: own-extender, webhook: own-webhook, api: own-api, client: own-client, caBundle: Q0E=}
"""
VISIBLE = "visibility: {enabled: true}\n"
CERT_MANAGER = "certificates: {source: cert-manager, issuer: {name: corporate}}"
OPERATORS = r"apiVersion: (cert-manager.io|monitoring.coreos.com)/v1\n"  # of kinds that this API server does not know
BESIDE = "kubeScheduler: {form: beside}\n"
BESIDE_GIVEN = BESIDE + GIVEN
GIVEN = re.sub("(extender|client): own-[a-z]+, ", "", GIVEN)
RENDERINGS = {
    "default": "", "full": FULL, "given": GIVEN, "cert-manager": CERT_MANAGER, "beside": BESIDE, "beside-given": BESIDE_GIVEN,
    "beside-cert-manager": BESIDE + CERT_MANAGER, "visibility": VISIBLE,
}  # fmt: skip
# Files that are not on this machine.
FINDINGS = {"given": 4, "cert-manager": 4, "beside-given": 7, "beside-cert-manager": 7}


def chapter(text, kind, name):
    """The document of one object."""
    for document in re.split(r"^---\n", text, flags=re.MULTILINE):
        if re.search(rf"^kind: {kind}\nmetadata:\n  name: {name}$", document, re.MULTILINE):
            return document
    raise AssertionError(f"no {kind} {name}")


class ChartTest(unittest.TestCase):
    """What needs no cluster."""

    def test_the_manifests_are_its_rendering(self):
        done = subprocess.run(
            [ROOT / "scripts/render-manifests", "--check"], capture_output=True, text=True, check=False
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_lint_finds_nothing(self):
        for name, values in RENDERINGS.items():
            with self.subTest(name):
                status, said = helm("lint", "--strict", CHART, "--set", TAG, values=values)
                self.assertEqual(status, 0, said)
                self.assertNotIn("WARNING", said)

    def test_it_begins_in_shadow_mode(self):
        self.assertIn("\n    mode: shadow\n", chapter(rendered(), "ConfigMap", "slackline"))

    def test_a_wrong_value_is_refused_by_its_path(self):
        for value, path in {
            "mode=on": "mode",
            "imagePullSecret=registry": "imagePullSecret",
            "image.digest=abc": "image/digest",
            "replicas=0": "replicas",
            "storage.size=much": "storage/size",
            "certificates.source=magic": "certificates/source",
            "networkPolicy.controlPlaneCIDRs[0]=here": "networkPolicy/controlPlaneCIDRs/0",
            "networkPolicy.apiCIDRs[0]=there": "networkPolicy/apiCIDRs/0",
            "kubeScheduler.tag=1.36": "kubeScheduler/tag",
            "kubeScheduler.form=inside": "kubeScheduler/form",
            "config.mode=active": "config/mode",
            "config.listeners.webhook.address=:8443": "config/listeners/webhook/address",
            "webhook.port=443": "webhook/port",
            "webhook.port=8183": "webhook/port",
            "visibility.port=8181": "visibility/port",
            "visibility.enabled=maybe": "visibility/enabled",
            "config.listeners.visibility.address=:8443": "config/listeners/visibility/address",
            "podMonitor.interval=often": "podMonitor/interval",
            "prometheusRule.runbooks=wiki": "prometheusRule/runbooks",
            "dashboards.enabled=maybe": "dashboards/enabled",
        }.items():
            with self.subTest(value):
                status, said = helm("template", "slackline", CHART, "--set", TAG, "--set", value)
                self.assertNotEqual(status, 0)
                self.assertIn(path, said)

    def test_a_missing_value_is_asked_for_by_name(self):
        for values, missing in {
            "mode: advise": "kubeScheduler.tag",
            "kubeScheduler: {tag: v1.36.3}\ncertificates: {source: cert-manager}": "certificates.issuer.name",
            "kubeScheduler: {tag: v1.36.3}\ncertificates: {source: given}": "certificates.given.",
        }.items():
            with self.subTest(missing):
                status, said = helm("template", "slackline", CHART, values=values)
                self.assertNotEqual(status, 0)
                self.assertIn(f"{missing}", said)
                self.assertIn("is missing: ", said)

    def test_an_older_cluster_is_refused(self):
        for version, refused in {"1.33.9": True, "1.34.0": False, "1.34.1-gke.5": False}.items():
            with self.subTest(version):
                status, said = helm("template", "slackline", CHART, "--set", TAG, "--kube-version", version)
                self.assertEqual("requires kubeVersion: >=1.34.0-0" in said, refused)
                self.assertEqual(status != 0, refused)

    def test_a_vendors_version_names_the_image_of_its_release(self):
        own = "registry.example/eks-distro/kube-scheduler"
        for tag, image in {
            "v1.36.3": "registry.k8s.io/kube-scheduler:v1.36.3",
            "v1.36.3-eks-3025e55": "registry.k8s.io/kube-scheduler:v1.36.3",
            "v1.36.3-gke.1046000": "registry.k8s.io/kube-scheduler:v1.36.3",
            "v1.36.3+k3s1": "registry.k8s.io/kube-scheduler:v1.36.3",
            "v1.37.0-rc.1": "registry.k8s.io/kube-scheduler:v1.37.0-rc.1",
        }.items():
            for form, kind, name in (
                ("pod", "StatefulSet", "slackline"),
                ("beside", "Deployment", "gpu-scheduler"),
            ):
                with self.subTest(tag, form=form):
                    text = rendered(f"kubeScheduler: {{form: {form}}}", SYSTEM, "--set", f"kubeScheduler.tag={tag}")
                    self.assertIn(f"image: {image}\n", chapter(text, kind, name))
        for tag, named in {"v1.36.3-eks-1-36-4": "v1.36.3-eks-1-36-4", "v1.36.3+k3s1": "v1.36.3"}.items():
            text = rendered(f"kubeScheduler: {{repository: {own}}}", SYSTEM, "--set", f"kubeScheduler.tag={tag}")
            self.assertIn(f"image: {own}:{named}\n", text, "an image of that name may be there")

    def test_replicas_know_each_other_by_the_authority_that_signs(self):
        for name, values in RENDERINGS.items():
            with self.subTest(name):
                others = "given" in name or "cert-manager" in name
                file = "/etc/slackline-tls/api/ca.crt" if others else "/etc/slackline-api/ca.crt"
                text = rendered(values)
                self.assertIn(f"caFile: {file}\n", chapter(text, "ConfigMap", "slackline"))
                self.assertIn(f"mountPath: {file.removesuffix('/ca.crt')},", chapter(text, "StatefulSet", "slackline"))

    def test_it_gives_the_same_manifests_every_time(self):
        for name, values in RENDERINGS.items():
            with self.subTest(name):
                self.assertEqual(rendered(values), rendered(values))
        found = subprocess.run(["grep", "-rnE", r"\b(lookup|rand[A-Z]\w*|genCA|genSigned\w*|now)\b", CHART / "templates"],
                               capture_output=True, text=True, check=False)  # fmt: skip
        code = [line for line in found.stdout.splitlines() if "{{" in line]
        self.assertEqual(code, [], "an operator that renders without a cluster would never be in sync")

    def test_every_secret_that_slackline_fills_is_there_and_empty(self):
        ours = {"plan-key": True, "webhook-tls": True, "api-tls": True, "extender-tls": False, "extender-client": False}
        for name, values in {"default": "", "beside": BESIDE, "none": "kubeScheduler: {form: none}\n"}.items():
            text = rendered(values)
            shipped = {f"slackline-{each}" for each, in_pod in ours.items() if in_pod or name != "default"}
            found = set(re.findall(r"^kind: Secret\nmetadata:\n  name: (slackline-.*)$", text, re.MULTILINE))
            self.assertEqual(found, shipped, name)
            for each in found:
                document = chapter(text, "Secret", each)
                self.assertNotRegex(
                    document, r"(?m)^(data|stringData|type: (?!Opaque))", "what Slackline wrote would go"
                )

    def test_it_may_be_installed_in_any_namespace(self):
        text = rendered("", "gpus")
        self.assertNotIn("slackline-system", text)
        (configuration,) = re.findall(r"  slackline.yaml: \|\n((?:    .*\n)+)", text)
        self.assertIn("lease: gpus/slackline", configuration)
        self.assertIn("--config", chapter(text, "CronJob", "slackline-release"), "the Lease has another name")

    def test_every_value_arrives(self):
        text = rendered(FULL)
        daemons = chapter(text, "StatefulSet", "slackline")
        beside = rendered(FULL.replace("kubeScheduler: {", "kubeScheduler: {form: beside, "))
        pods = {"daemons": daemons, "release": chapter(text, "CronJob", "slackline-release"),
                "remove": chapter(text, "Job", "slackline-remove"),
                "gpu-scheduler": chapter(beside, "Deployment", "gpu-scheduler")}  # fmt: skip
        for name, document in pods.items():
            for said in ("- name: registry\n", "kubernetes.io/os: linux\n", "key: critical\n",
                         "priorityClassName: system-node-critical\n"):  # fmt: skip
                with self.subTest(said, pods=name):
                    self.assertIn(said, document)
            for fixed in ("runAsUser", "runAsGroup", "fsGroup"):
                self.assertNotIn(fixed, document, f"{name}: OpenShift chooses it")
        image = f"registry.example/slackline:0.1.0@sha256:{'a' * 64}\n"
        self.assertIn(image, pods["release"])
        for said in (
            image, "replicas: 3\n", "topologyKey: rack\n", "team: platform\n", "example.com/a: b\n", '"--log-level=debug"\n',
            "name: HTTPS_PROXY\n", "mountPath: /extra\n", "name: extra\n", "storageClassName: fast\n",
            "requests: {storage: 5Gi}\n", "podAntiAffinity:\n",
        ):  # fmt: skip
            with self.subTest(said):
                self.assertIn(said, daemons)
        self.assertNotIn("topology.kubernetes.io/zone", daemons)
        self.assertIn("name: webhook, containerPort: 9443}", daemons)
        self.assertIn("policy: savable", chapter(text, "ConfigMap", "slackline"))
        self.assertIn("address: :9443\n", chapter(text, "ConfigMap", "slackline"))
        self.assertIn("targetPort: webhook ", chapter(text, "Service", "slackline-webhook"))
        self.assertIn("maxUnavailable: 50%\n", chapter(text, "PodDisruptionBudget", "slackline"))
        self.assertIn("example.com/role: reader\n", chapter(text, "ServiceAccount", "slackline"))
        self.assertIn("values: [system-node-critical]\n", chapter(text, "ResourceQuota", "slackline-critical"))
        policy = chapter(text, "NetworkPolicy", "slackline")
        self.assertIn("port: 9443,", policy)
        self.assertIn("10.0.0.0/28", policy)
        self.assertNotIn('0.0.0.0/0"', policy)
        self.assertIn("kubernetes.io/metadata.name: observe}", policy)
        for block in ("192.0.2.0/24", "2001:db8::/32"):
            self.assertIn(f'- ipBlock: {{cidr: "{block}"}}', chapter(text, "NetworkPolicy", "slackline-api"))
        self.assertNotIn(
            "ipBlock", chapter(rendered(), "NetworkPolicy", "slackline-api"), "the pods of the cluster only"
        )
        scheduler = chapter(text, "ConfigMap", "gpu-scheduler-configuration")
        self.assertIn("- name: amd.com/gpu\n", scheduler)
        monitor = chapter(text, "PodMonitor", "slackline")
        self.assertIn("release: monitoring\n", monitor)
        for label in ("app.kubernetes.io/name: slackline\n", "app.kubernetes.io/component: daemon\n"):
            self.assertIn(label, monitor.partition("matchLabels:")[2])
        self.assertIn("name: metrics, containerPort: 8182", daemons, "the port that it names")
        self.assertNotIn("prometheus.io/scrape", text, "everything would be scraped twice")

    def test_alerts_and_boards_arrive_as_they_are(self):
        self.assertNotRegex(rendered(), "PrometheusRule|dashboard", "unless they are asked for")
        text = rendered(FULL)
        rules = chapter(text, "PrometheusRule", "slackline")
        self.assertIn("release: rules\n", rules)
        shipped = (CHART / "prometheus/rules.yaml").read_text()
        self.assertEqual(
            rules.count("runbook_url: https://wiki.example/slackline#slackline"), shipped.count("- alert: ")
        )
        self.assertIn("{{ $labels.of }}", rules, "Prometheus fills it in")
        inside = rules.partition("\nspec:\n")[2].replace("https://wiki.example/slackline", RUNBOOKS)
        self.assertEqual(textwrap.dedent(inside).strip(), shipped.strip())
        for board in (CHART / "grafana").glob("*.json"):
            document = chapter(text, "ConfigMap", f"{board.stem}-dashboard")
            self.assertIn("folder: gpus\n", document)
            (inside,) = re.findall(rf"  {board.name}: \|\n((?:    .*\n)+)", document)
            self.assertEqual(json.loads(inside), json.loads(board.read_text()))

    def test_the_aggregated_api_is_there_if_it_is_asked_for(self):
        self.assertNotIn("visibility", rendered("", SYSTEM, "--no-hooks"), "off by default")
        text = rendered(VISIBLE + "webhook: {port: 9443}", "gpus")
        self.assertNotIn("slackline-system", text)
        service = chapter(text, "APIService", "v1.visibility.slackline.dev")
        self.assertIn("name: slackline-webhook\n    namespace: gpus\n    port: 10251\n", service)
        self.assertNotRegex(service, "caBundle|insecure", "Slackline fills it in")
        self.assertIn("port: 10251\n      targetPort: visibility\n", chapter(text, "Service", "slackline-webhook"))
        self.assertIn("name: visibility, containerPort: 10251}", chapter(text, "StatefulSet", "slackline"))
        self.assertRegex(chapter(text, "ConfigMap", "slackline"), r"visibility:\n *address: :10251\n")
        self.assertIn("port: 10251,", chapter(text, "NetworkPolicy", "slackline"))
        self.assertIn(
            "name: extension-apiserver-authentication-reader\n", chapter(text, "RoleBinding", "slackline-visibility")
        )
        role = chapter(text, "ClusterRole", "slackline-visibility")
        self.assertIn("resourceNames: [v1.visibility.slackline.dev]\n    verbs: [get, patch]\n", role)
        for values, said in (
            (GIVEN, "caBundle: Q0E="),
            (CERT_MANAGER, "inject-ca-from: slackline-system/slackline-webhook"),
        ):
            text = rendered(VISIBLE + values, SYSTEM, "--no-hooks")
            self.assertIn(said, chapter(text, "APIService", "v1.visibility.slackline.dev"))
            self.assertNotIn("apiservices", text, "there is nothing to patch")
        status, said = helm("template", "slackline", CHART, "--set", TAG, values=VISIBLE + "webhook: {port: 10251}")
        self.assertNotEqual(status, 0)
        self.assertIn("visibility.port is webhook.port", said)

    def test_certificates_of_others_reach_both_ends(self):
        for values, secrets in (
            (BESIDE_GIVEN, ("own-extender", "own-webhook", "own-api", "own-client")),
            (BESIDE + CERT_MANAGER, ("slackline-extender-tls", "slackline-webhook-tls", "slackline-api-tls",
                            "slackline-extender-client")),
        ):  # fmt: skip
            text = rendered(values)
            daemons, scheduler = chapter(text, "StatefulSet", "slackline"), chapter(text, "Deployment", "gpu-scheduler")
            for secret in secrets[:3]:
                self.assertIn(f"secretName: {secret}\n", daemons)
            self.assertEqual(scheduler.count(f"secretName: {secrets[3]}\n"), 2, "its authority and its own")
            shipped = re.findall(r"^kind: Secret\nmetadata:\n  name: (.*)$", text, re.MULTILINE)
            self.assertEqual(shipped, ["slackline-plan-key"], "an empty one would be in the way")
            self.assertEqual(text.count("caBundle: Q0E="), 6 if values is BESIDE_GIVEN else 0)
            self.assertEqual(text.count("cert-manager.io/inject-ca-from: slackline-system/slackline-webhook"),
                             0 if values is BESIDE_GIVEN else 2)  # fmt: skip
            (configuration,) = re.findall(r"  slackline.yaml: \|\n((?:    .*\n)+)", text)
            self.assertEqual(configuration.count("certFile: "), 3)
            self.assertRegex(configuration, r"clientNames:\n *- system:kube-scheduler\n")

    def test_in_the_pod_nobody_else_reaches_the_extender(self):
        for name in ("default", "given", "cert-manager"):
            with self.subTest(name):
                text = rendered(RENDERINGS[name], "gpus", "--no-hooks")
                spoken = {line.partition("#")[0].strip() for line in text.splitlines() if "8181" in line}
                self.assertEqual(spoken, {"address: 127.0.0.1:8181", "- urlPrefix: http://127.0.0.1:8181/v1/extender"})
                self.assertNotIn("slackline-extender", text, "no certificate, no authority, no Secret of either")
                self.assertNotIn("kind: Deployment", text)
                self.assertNotIn("helm.sh/resource-policy", text, "it goes with the release")
                pods = chapter(text, "StatefulSet", "slackline")
                self.assertIn("image: registry.k8s.io/kube-scheduler:v1.36.3\n", pods)
        full = rendered(FULL)
        pods = chapter(full, "StatefulSet", "slackline")
        for fixed in ("runAsUser", "runAsGroup", "fsGroup"):
            self.assertNotIn(fixed, pods, "OpenShift chooses it")
        self.assertIn("- name: amd.com/gpu\n", chapter(full, "ConfigMap", "gpu-scheduler-configuration"))

    def test_a_changed_stanza_rolls_the_pod(self):
        def annotations(more):
            pods = chapter(rendered(f"kubeScheduler: {{form: pod{more}}}"), "StatefulSet", "slackline")
            return re.findall(r"checksum/\S+: \S+", pods)

        before, after = annotations(""), annotations(", managedResources: [amd.com/gpu]")
        self.assertEqual(before[0], after[0], "Slackline's own is the same")
        self.assertNotEqual(before[1], after[1])

    def test_the_scheduler_of_the_pod_has_no_findings(self):
        configuration = chapter(rendered(), "ConfigMap", "gpu-scheduler-configuration")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "configuration.yaml")
            path.write_text(textwrap.dedent(configuration.partition("  configuration.yaml: |\n")[2]))
            said = slackline("check", "--scheduler", path)
        self.assertEqual(said, f"{path}: no findings\n")

    def test_a_scheduler_that_is_started_by_hand_is_configured_as_beside(self):
        def meant(text):
            lines = (re.sub(r"\s*#.*", "", line) for line in text.splitlines())
            return [line for line in lines if line and "kubeconfig:" not in line]

        beside = chapter(rendered(BESIDE), "ConfigMap", "gpu-scheduler-configuration")
        by_hand = (ROOT / "deploy/kube-scheduler/gpu-scheduler.yaml").read_text()
        self.assertEqual(meant(by_hand), meant(textwrap.dedent(beside.partition("  configuration.yaml: |\n")[2])))

    def test_its_configurations_have_no_findings(self):
        for name, values in RENDERINGS.items():
            (configuration,) = re.findall(r"  slackline.yaml: \|\n((?:    .*\n)+)", rendered(values, "gpus"))
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "slackline.yaml")
                path.write_text(re.sub(r"^    ", "", configuration, flags=re.MULTILINE))
                said = slackline("check", "--config", path).splitlines()
                mounted = [line for line in said if "warning: " in line and "/etc/slackline-tls/" in line]
                self.assertEqual(len(mounted), FINDINGS.get(name, 0))
                self.assertEqual([line for line in said if line not in mounted and "no findings" not in line], [])


class HelmTest(unittest.TestCase):
    """install, upgrade, rollback and uninstall on a real API server."""

    def setUp(self):
        self.cluster = ControlPlane()
        self.addCleanup(self.cluster.close)

    def helm(self, *arguments):
        status, said = helm(*arguments, "-n", SYSTEM, kubeconfig=self.cluster.pki_kubeconfig("admin"))
        self.assertEqual(status, 0, said)
        return said

    def mode(self):
        text = self.cluster.get("configmap", SYSTEM, "slackline")["data"]["slackline.yaml"]
        return re.search(r"^mode: (\w+)$", text, re.MULTILINE)[1]

    def rolled(self):
        """What makes the pods roll."""
        template = self.cluster.get("statefulset", SYSTEM, "slackline")["spec"]["template"]
        return template["metadata"]["annotations"]["checksum/configuration"]

    def authorities(self):
        """caBundle of every webhook, as Slackline wrote it."""
        return [
            each["clientConfig"].get("caBundle")
            for kind in ("mutating", "validating")
            for each in self.cluster.get(f"{kind}webhookconfiguration", None, "slackline")["webhooks"]
        ]

    def filled(self):
        """{name: data} of the Secrets that Slackline has filled."""
        found = self.cluster.list("secret", SYSTEM)
        return {
            name_of(each): each["data"] for each in found if name_of(each).startswith("slackline-") and "data" in each
        }

    def test_from_install_to_uninstall(self):
        cluster = self.cluster
        cluster.add_gpu_nodes(1, 4, "K80")
        cluster.add_namespace(TEAM, MANAGED)
        beside = ("--set", "kubeScheduler.form=beside")
        said = self.helm("install", "slackline", CHART, "--create-namespace", "--set", TAG, *beside)
        for command in ("rollout status statefulset/slackline", "-- slackline queue", "--set mode=active"):
            self.assertIn(command, said, "the next three commands")
        self.assertNotIn("WARNING", said)
        older = f"v1.{MINOR - 1}"
        said = self.helm("upgrade", "slackline", CHART, "--dry-run=server", "--set", f"kubeScheduler.tag={older}.1")
        self.assertIn(f"WARNING: gpu-scheduler is {older} and the cluster is v1.{MINOR}", said)
        self.every_rendering_is_admitted()
        self.a_second_release_is_refused()

        installed = Installation(cluster)
        installed.run_as_installed()
        daemon = installed.daemon
        cluster.wait(lambda: all(self.authorities()), 20, "the webhooks to know Slackline's authority")
        cluster.apply([gpu_job("stock", scheduler="gpu-scheduler")])
        self.assertFalse(cluster.get("job", TEAM, "stock")["spec"].get("suspend"), "shadow mode changes nothing")
        cluster.wait_bound("stock", namespace=TEAM)

        trusted, before, filled = self.authorities(), self.rolled(), self.filled()
        self.assertLessEqual({"slackline-webhook-tls", "slackline-api-tls", "slackline-extender-tls"}, filled.keys())
        said = self.helm("upgrade", "slackline", CHART, "--reset-then-reuse-values", "--set", "mode=active")
        self.assertIn("kubectl label namespace TEAM", said)
        self.assertEqual(self.mode(), "active")
        self.assertNotEqual(self.rolled(), before)
        self.assertEqual(self.authorities(), trusted, "what Slackline wrote stays")
        self.assertEqual(self.filled(), filled, "likewise")
        as_installed = self.webhooks()
        cluster.kubectl("replace", "-f", "-", input=webhook_manifests(daemon.webhook_port))
        installed.restart()
        installed.wait_active(TEAM)
        cluster.apply([gpu_job("queued")])
        cluster.wait_bound("queued", namespace=TEAM)
        self.assertIn("slackline.dev/plan", cluster.get("job", TEAM, "queued")["metadata"]["annotations"])
        self.assertEqual(daemon.stop(), 0)
        cluster.kubectl("replace", "-f", "-", input=json.dumps(as_installed))

        self.helm("rollback", "slackline", "1")
        self.assertEqual((self.mode(), self.rolled()), ("shadow", before))
        self.assertEqual(self.authorities(), trusted)
        notes = self.helm("get", "notes", "slackline")
        self.assertIn("runs in shadow mode", notes)

        (status, said), (code, words) = installed.helm_uninstall()
        self.assertEqual((status, code), (0, 0), said + words)
        self.assertEqual(self.left("slackline"), "", "also what helm knows nothing of")
        kept = self.left("gpu-scheduler")
        self.assertIn("deployment.apps/gpu-scheduler\n", kept)
        self.assertIn("secret/slackline-extender-client\n", kept)
        cluster.kill("gpu-scheduler")  # its pods end; here no kubelet does it
        for command in re.findall(r"^ *kubectl (.*delete .*)$", notes, re.MULTILINE):
            cluster.kubectl(*command.split())
        self.assertEqual(self.left("gpu-scheduler") + self.left("slackline"), "")
        leases = cluster.kubectl("get", "leases", "-A", "-o", "name")
        self.assertNotIn("slackline", leases)
        self.assertNotIn("gpu-scheduler", leases)

    def test_secrets_of_an_older_version_are_kept(self):
        """It made them itself, of another type; helm takes them over where it is told to, once."""
        cluster = self.cluster
        values = ("--set", TAG, "--set", "kubeScheduler.form=beside")
        with tempfile.TemporaryDirectory() as folder:
            older = shutil.copytree(CHART, pathlib.Path(folder, "slackline"))
            helpers = older / "templates/_helpers.tpl"
            text, found = re.subn(r'(define "slackline.ownSecret" -}}\n).*?\n{{- end }}', r"\1{{- end }}",
                                  helpers.read_text(), flags=re.DOTALL)  # fmt: skip
            self.assertEqual(found, 1)
            helpers.write_text(text)
            self.helm("install", "slackline", older, "--create-namespace", *values)
        self.assertNotIn("slackline-plan-key", self.left("slackline"))
        kinds = {"plan-key": "Opaque", "webhook-tls": "kubernetes.io/tls", "api-tls": "kubernetes.io/tls"}
        for name, kind in kinds.items():
            metadata = {"name": f"slackline-{name}", "labels": {"app.kubernetes.io/name": "slackline"}}
            data = dict.fromkeys(("keys", "tls.crt", "tls.key"), "bWFkZQ==")
            made = {"apiVersion": "v1", "kind": "Secret", "type": kind, "metadata": metadata, "data": data}
            status, said = cluster.request("POST", cluster.collection("secret", SYSTEM), made)
            self.assertEqual(status, 201, said)
        for once in (["--take-ownership"], []):
            self.helm("upgrade", "slackline", CHART, *values, *once)
            for name, kind in kinds.items():
                found = cluster.get("secret", SYSTEM, f"slackline-{name}")
                self.assertEqual((found["type"], len(found["data"])), (kind, 3))
            self.assertNotIn("data", cluster.get("secret", SYSTEM, "slackline-extender-tls"))
        cluster.kubectl("-n", SYSTEM, "delete", "secret", "slackline-plan-key")
        self.helm("upgrade", "slackline", CHART, *values)
        self.assertNotIn("data", cluster.get("secret", SYSTEM, "slackline-plan-key"), "it is put back")
        (status, said), (code, words) = Installation(cluster).helm_uninstall()
        self.assertEqual((status, code), (0, 0), said + words)
        self.assertEqual(self.left("slackline"), "", "also what an older version made")

    def test_gpu_scheduler_moves_into_the_pod(self):
        """Who had it beside, upgrades: its rights follow it, and what stays is named with the command that deletes it."""
        cluster = self.cluster
        beside = ("--set", "kubeScheduler.form=beside")
        self.helm("install", "slackline", CHART, "--create-namespace", "--set", TAG, *beside)
        where = ("get", "clusterrolebinding", "gpu-scheduler", "-o", "jsonpath={.subjects[*].namespace}")
        self.assertEqual(cluster.kubectl(*where), "kube-system")
        self.helm("upgrade", "slackline", CHART, "--reset-then-reuse-values", "--set", "kubeScheduler.form=pod")
        self.assertEqual(cluster.kubectl(*where), SYSTEM)
        self.assertIn("deployment.apps/gpu-scheduler\n", self.left("gpu-scheduler"))
        none = (0, "cluster: no errors\n")
        self.assertEqual(self.check(), none, "nobody holds the Lease yet")
        self.hold_lease("gpu-scheduler-7c9f-x2x_1a2b")
        code, said = self.check()
        self.assertEqual(code, 1, said)
        self.assertIn("cluster: error: two sets of kube-schedulers compete for the Lease kube-system/gpu-scheduler: "
                      "gpu-scheduler-7c9f-x2x_1a2b holds it ", said)  # fmt: skip
        self.hold_lease("slackline-0_1a2b")
        self.assertEqual(self.check(), none)
        notes = self.helm("get", "notes", "slackline")
        (moved,) = re.findall(r"^ *kubectl (.*delete .*)$", notes, re.MULTILINE)
        cluster.kubectl(*moved.split())
        self.assertNotIn("deployment.apps", self.left("gpu-scheduler"))
        self.helm("upgrade", "slackline", CHART, "--reset-then-reuse-values", "--set", "mode=active")
        self.assertIn("secret/gpu-scheduler-token\n", self.left("gpu-scheduler"))
        (status, said), (code, words) = PodInstallation(cluster).helm_uninstall()
        self.assertEqual((status, code), (0, 0), said + words)
        self.assertEqual(self.left("gpu-scheduler") + self.left("slackline"), "")

    def hold_lease(self, holder):
        """As a kube-scheduler of this name does."""
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": {"holderIdentity": holder}}
        lease["metadata"] = {"name": "gpu-scheduler", "namespace": "kube-system"}
        self.cluster.apply([lease])

    def check(self):
        done = subprocess.run(
            [slackline_binary(), "check", "--cluster", "kube", "--kubeconfig", self.cluster.pki_kubeconfig("admin")],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout

    def a_second_release_is_refused(self):
        """Before anything of it is written: the cluster-wide objects belong to the first."""
        before = self.left("slackline") + self.left("gpu-scheduler")
        for release, namespace in (("second", SYSTEM), ("slackline", TEAM), ("second", TEAM)):
            with self.subTest(release=release, namespace=namespace):
                status, said = helm("install", release, CHART, "-n", namespace, "--set", TAG,
                                    kubeconfig=self.cluster.pki_kubeconfig("admin"))  # fmt: skip
                self.assertNotEqual(status, 0)
                self.assertIn("cannot be imported into the current release", said)
        self.assertEqual(self.left("slackline") + self.left("gpu-scheduler"), before)

    def webhooks(self):
        items = [
            self.cluster.get(f"{kind}webhookconfiguration", None, "slackline") for kind in ("mutating", "validating")
        ]
        for each in items:
            each["metadata"] = {key: each["metadata"][key] for key in ("name", "labels", "annotations")}
        return {"apiVersion": "v1", "kind": "List", "items": items}

    def every_rendering_is_admitted(self):
        for name, values in RENDERINGS.items():
            with self.subTest(name):
                documents = re.split(r"^---\n", rendered(values), flags=re.MULTILINE)
                ours = [each for each in documents if not re.search(OPERATORS, each)]
                said = self.cluster.kubectl(
                    "create", "--dry-run=server", "--validate=strict", "-f", "-",
                    # The name of an APIService is that of its version.
                    input=re.sub(r"\n  name: (?!v1\.)", "\n  name: tried-", "---\n".join(ours)),
                )  # fmt: skip
                self.assertIn("statefulset.apps/tried-slackline created (server dry run)", said)

    def left(self, name):
        kinds = (
            "deployments,statefulsets,cronjobs,services,secrets,configmaps,networkpolicies,resourcequotas,"
            "poddisruptionbudgets,roles,rolebindings,clusterroles,clusterrolebindings,priorityclasses,serviceaccounts,"
            "mutatingwebhookconfigurations,validatingwebhookconfigurations,validatingadmissionpolicies,"
            "validatingadmissionpolicybindings"
        )
        return self.cluster.kubectl("get", kinds, "-A", "-l", f"app.kubernetes.io/name={name}", "-o", "name")


if __name__ == "__main__":
    unittest.main()
