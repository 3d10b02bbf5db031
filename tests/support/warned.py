"""What kubectl would warn of, as the API server says it."""

import json


def on_create(cluster, what, dry=True):
    """The warnings when this is made. AssertionError where it is refused."""
    return _told(cluster, "POST", path_of(what) + ("?dryRun=All" if dry else ""), what, 201)


def on_change(cluster, made, patch):
    """The warnings when this merge patch is applied to what was made."""
    return _told(cluster, "PATCH", f"{path_of(made)}/{made['metadata']['name']}", patch, 200)


def path_of(what):
    plural = f"{what['kind'].lower()}s"
    return f"/apis/{what['apiVersion']}/namespaces/{what['metadata']['namespace']}/{plural}"


def _told(cluster, method, path, body, expected):
    link = cluster.connect()
    form = "merge-patch+json" if method == "PATCH" else "json"
    try:
        link.request(method, path, json.dumps(body), {"Content-Type": f"application/{form}"})
        answer = link.getresponse()
        said = answer.read().decode()
    finally:
        link.close()
    assert answer.status == expected, said
    return answer.headers.get_all("Warning", [])
