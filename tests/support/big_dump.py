"""A dump of a large cluster, as `kubectl get nodes,pods,jobs -A -o yaml` prints it (JSON is YAML)."""

import json
import time

from support.objects import gpu_job, gpu_node

TYPES = ("A100-SXM4-40GB", "Tesla-P100-PCIE-16GB", "Tesla-K80", "Tesla-T4")
MODELS = ("resnet50", "bert-base", "vgg16", "inception3")


def _stamp(epoch_s):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch_s))


def _born(thing, uid, created_s):
    thing["metadata"].update(uid=f"00000000-0000-4000-8000-{uid:012d}", creationTimestamp=_stamp(created_s))
    return thing


def _waiting(i, now_s):
    notes = {"expected-duration": f"{20 + i % 200}m", "deadline": _stamp(now_s + 3600 * (1 + i % 72))}
    if i % 7 == 0:
        notes["qos-class"] = "prior"
    job = gpu_job(f"train-{i:05d}", gpus=1 + i % 8, namespace=f"team-{i % 12}", annotations=notes,
                  scheduler="gpu-scheduler")  # fmt: skip
    return _born(job, 1_000_000 + i, now_s - 60 * (i % 600))


def _running(i, node, now_s):
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"run-{i:05d}", "namespace": f"team-{i % 12}",
                     "annotations": {"slackline.dev/expected-duration": f"{1 + i % 9}h"}},
        "spec": {"nodeName": node, "schedulerName": "gpu-scheduler" if i % 5 else "default-scheduler",
                 "containers": [{"name": "train", "image": "train",
                                 "resources": {"requests": {"nvidia.com/gpu": str(1 + i % 6)}}}]},
        "status": {"phase": "Running", "startTime": _stamp(now_s - 60 * (i % 300))},
    }  # fmt: skip
    return _born(pod, 2_000_000 + i, now_s - 60 * (i % 300) - 30)


def big_dump(tasks=10_000, nodes=5_000):
    """`tasks` in all, of which one for each second node runs; eight GPUs on a node, of four types."""
    now_s = int(time.time())
    items = []
    for i in range(nodes):
        node = gpu_node(f"gpu-{i:04d}", 8, TYPES[i % len(TYPES)], ready=i % 97 != 0)
        items.append(_born(node, i + 1, now_s - 86400))
    running = min(nodes // 2, tasks // 2)
    items += [_running(i, f"gpu-{2 * i:04d}", now_s) for i in range(running)]
    items += [_waiting(i, now_s) for i in range(tasks - running)]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
