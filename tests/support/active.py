"""Slackline in active mode on a test cluster, installed as its manifests say: rights, webhook,
daemon, and the stock kube-scheduler with the daemon as its extender."""

from support.controlplane import gpu_scheduler_config
from support.daemon import Daemon
from support.installation import WEBHOOK, webhook_manifests
from support.process import free_ports

_CONFIG = """\
apiVersion: config.slackline.dev/v1alpha1
kind: SlacklineConfiguration
planner: {{policy: "{policy}"}}
webhook: {{certificate: {{names: [127.0.0.1, slackline-webhook.slackline-system.svc]}}}}
profiles: [{profiles}]
"""


def managed_namespace(cluster, name):
    """Makes a namespace whose Jobs Slackline looks after."""
    metadata = {"name": name, "labels": {"slackline.dev/managed": "true"}}
    cluster.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}])
    return name


def start_active(cluster, policy, profiles=(), detached=False):
    """Installs Slackline and starts it: returns the daemon once it leads and is asked about Jobs.

    `profiles` are files of WorkloadProfiles beside those shipped. The daemon ends with the cluster.
    """
    account = cluster.install_rbac()
    cluster.kubectl("apply", "--validate=strict", "-f", WEBHOOK / "rbac.yaml")
    directory = cluster.directory / "slackline"
    directory.mkdir(exist_ok=True)
    config = directory / "slackline.yaml"
    config.write_text(_CONFIG.format(policy=policy, profiles=", ".join(map(str, profiles))))
    (port,) = free_ports(1)
    cluster.apply(webhook_manifests(port))
    daemon = Daemon(
        account, directory, mode="active", detached=detached,
        flags=["--config", config, "--listen-webhook", f"127.0.0.1:{port}", "--grace", "0"],
    )  # fmt: skip
    cluster.adopt(daemon.process)
    daemon.start()
    cluster.start_scheduler(gpu_scheduler_config(cluster, daemon.extender_url))
    cluster.wait(lambda: daemon.total("slackline_leader") == 1, 30, "the daemon to lead")
    _wait_until_asked(cluster)
    return daemon


def _wait_until_asked(cluster):
    """The API server knows the webhook and trusts its certificate: it refuses a class we refuse."""
    probe = managed_namespace(cluster, "probe")
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "probe", "annotations": {"slackline.dev/qos-class": "unheard-of"}},
        "spec": {
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "containers": [
                        {
                            "name": "probe",
                            "image": "busybox:1.37",
                            "resources": {"limits": {"nvidia.com/gpu": "1"}},
                        }
                    ],
                }
            }
        },
    }
    path = cluster.collection("job", probe) + "?dryRun=All"
    cluster.wait(
        lambda: cluster.request("POST", path, job)[0] not in (200, 201), 30, "the webhook's word"
    )
