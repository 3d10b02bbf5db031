"""Slackline in active mode on a test cluster, installed as its manifests say: rights, webhook,
daemon, and the stock kube-scheduler with the daemon as its extender."""

from support.controlplane import gpu_scheduler_config
from support.daemon import Daemon
from support.installation import WEBHOOK, wait_leading, wait_webhook, webhook_manifests
from support.objects import MANAGED
from support.process import free_ports

POLICY = "savable,headroom=0,calm=0"  # nothing is kept back for Jobs that may still come
_CERTIFICATE = "{names: [127.0.0.1, slackline-webhook.slackline-system.svc]}"


# A Lease that is not there and that the daemon may not make: what is queued stays queued.
NOBODY_PLANS = "kube-system/nobody-plans"


def let_nobody_plan(cluster):
    """For a daemon whose planner.lease is NOBODY_PLANS."""
    namespace, lease = NOBODY_PLANS.split("/")
    cluster.kubectl("-n", namespace, "create", "role", lease, "--verb=get,update", "--resource=leases.coordination.k8s.io",
                    f"--resource-name={lease}")  # fmt: skip
    cluster.kubectl("-n", namespace, "create", "rolebinding", lease, f"--role={lease}",
                    "--serviceaccount=slackline-system:slackline")  # fmt: skip


def active_daemon(cluster, account, name, policy=POLICY):
    """A daemon that plans, without a webhook; not started. In a directory NAME of the cluster's."""
    settings = f'planner: {{policy: "{policy}"}}\n'
    return Daemon(account, cluster.directory / name, "active", settings=settings)


def start_active(cluster, namespace, policy=POLICY, settings="", detached=False):
    """Installs Slackline, makes a namespace that it looks after, and starts it: returns the daemon
    once it leads and is asked about Jobs.

    `settings` are further lines of its configuration. The daemon ends with the cluster.
    """
    account = cluster.install_rbac()
    cluster.kubectl("apply", "--validate=strict", "-f", WEBHOOK / "rbac.yaml")
    cluster.add_namespace(namespace, MANAGED)
    (port,) = free_ports(1)
    cluster.apply(webhook_manifests(port))
    daemon = Daemon(
        account, cluster.directory / f"slackline-{namespace}", "active", detached,
        flags=["--listen-webhook", f"127.0.0.1:{port}", "--grace", "0"],
        settings=f'planner: {{policy: "{policy}"}}\nwebhook: {{certificate: {_CERTIFICATE}}}\n'
        + settings,
    )  # fmt: skip
    cluster.adopt(daemon.process)
    daemon.start()
    cluster.start_scheduler(gpu_scheduler_config(cluster, daemon.extender_url))
    wait_leading(cluster, daemon)
    wait_webhook(cluster, namespace)
    return daemon
