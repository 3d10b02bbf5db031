"""The chart, and helm at work with it."""

import os
import subprocess

from support.controlplane import ROOT

HELM = ROOT / ".cache/helm/helm"
CHART = ROOT / "deploy/helm/slackline"


def helm(*arguments, kubeconfig="/nonexistent", values=None):
    """(exit status, everything it printed); `values` is YAML that wins over the chart's."""
    assert HELM.exists(), "helm is not built: run scripts/build-helm"
    more = ["--values", "-"] if values is not None else []
    done = subprocess.run(
        [HELM, *map(str, arguments), *more], input=values, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "KUBECONFIG": str(kubeconfig)},
    )  # fmt: skip
    return done.returncode, done.stdout


def rendered(values="", namespace="slackline-system", *flags):
    """The text of the manifests, by a helm that knows no cluster."""
    status, text = helm(
        "template", "slackline", CHART, "--namespace", namespace, "--set", "kubeScheduler.tag=v1.36.3", *flags,
        values=values,
    )  # fmt: skip
    assert status == 0, text
    return text
