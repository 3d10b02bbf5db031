"""The admission webhook on a test cluster: deploy/webhook, called on a loopback port."""

import base64
import re

from support.controlplane import ROOT

DEPLOY = ROOT / "deploy" / "webhook"


def webhook_manifests(port, authority=None):
    """deploy/webhook as it is, but called on a loopback port instead of through a Service.

    With the file of an authority also trusted, as an administrator would write it.
    """
    texts = [(DEPLOY / name).read_text() for name in ("mutating.yaml", "validating.yaml")]
    service = re.compile(
        r"      service:\n        name: .*\n        namespace: .*\n        path: (\S+)\n"
    )
    called = rf"      url: https://127.0.0.1:{port}\1\n"
    if authority:
        called += f"      caBundle: {base64.b64encode(authority.read_bytes()).decode()}\n"
    text, found = service.subn(called, "\n---\n".join(texts))
    assert found == 4, f"deploy/webhook has {found} webhooks, not four"
    return text
