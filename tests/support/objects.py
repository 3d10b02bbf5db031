"""Kubernetes objects for tests, as plain dictionaries, and questions about them."""

GPU = "nvidia.com/gpu"
AMD = "amd.com/gpu"
TEAM = "team-a"  # where people work whose Jobs Slackline looks after
MANAGED = {"slackline.dev/managed": "true"}  # the label of such a namespace
GPU_PRODUCT_LABEL = "nvidia.com/gpu.product"
DURATION = "sim.slackline.dev/duration"  # how long KWOK lets the pod run


def gpu_node(name, gpus, gpu_type=None, resource=GPU, ready=False):
    """Without `ready` its kubelet has not reported yet."""
    labels = {"type": "kwok", "kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
    if gpu_type:
        labels[GPU_PRODUCT_LABEL] = gpu_type
    room = {"cpu": "64", "memory": "256Gi", "pods": "110", resource: str(gpus)}
    status = {"capacity": room, "allocatable": room}
    if ready:
        status["conditions"] = [{"type": "Ready", "status": "True"}]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": status,
    }


def gpu_pod(name, gpus=1, namespace="default", scheduler="gpu-scheduler", duration=None,
            annotations=None, priority_class=None, resource=GPU):  # fmt: skip
    notes = dict(annotations or {})
    if duration:
        notes[DURATION] = duration
    amounts = {"cpu": "1", "memory": "1Gi", resource: str(gpus)}
    spec = {
        "schedulerName": scheduler,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 1,
        "containers": [
            {
                "name": "train",
                "image": "busybox:1.37",
                "resources": {"requests": amounts, "limits": amounts},
            }
        ],
    }
    if priority_class:
        spec["priorityClassName"] = priority_class
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "annotations": notes},
        "spec": spec,
    }


def gang(name, pods, **of_pod):
    """An Indexed Job whose pods run together, each as gpu_pod() makes it."""
    member = gpu_pod(name, **of_pod)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": member["metadata"]["namespace"]},
        "spec": {
            "completionMode": "Indexed",
            "completions": pods,
            "parallelism": pods,
            "template": {
                "metadata": {"annotations": member["metadata"]["annotations"]},
                "spec": member["spec"],
            },
        },
    }


def gpu_job(name, gpus=1, pods=1, namespace=TEAM, annotations=None, labels=None, spec=None,
            template_annotations=None, scheduler="default-scheduler"):  # fmt: skip
    """A Job as people write it; annotations are named without `slackline.dev/`."""
    job = gang(name, pods, gpus=gpus, namespace=namespace, scheduler=scheduler,
               annotations=_ours(template_annotations))  # fmt: skip
    job["metadata"].update(labels=labels or {}, annotations=_ours(annotations))
    job["spec"].update(spec or {})
    return job


def _ours(notes):
    return {f"slackline.dev/{key}": value for key, value in (notes or {}).items()}


def priority_class(name, value):
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    }


def runtime_class(name):
    """Its pods take a little more, and run on nodes with the label runtime=NAME and a taint named NAME."""
    toleration = {"key": name, "operator": "Exists", "effect": "NoSchedule"}
    return {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": name},
        "handler": name,
        "overhead": {"podFixed": {"cpu": "250m"}},
        "scheduling": {"nodeSelector": {"runtime": name}, "tolerations": [toleration]},
    }


def disk(name, label, value, namespace=TEAM):
    """A PersistentVolume that the nodes with this label reach, and the claim NAME that is bound to it."""
    size = {"storage": "1Gi"}
    modes = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    reach = {"matchExpressions": [{"key": label, "operator": "In", "values": [value]}]}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": modes | {
            "capacity": size,
            "hostPath": {"path": "/data"},
            "claimRef": {"namespace": namespace, "name": name},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [reach]}},
        },
    }  # fmt: skip
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
        },
        "spec": modes | {"resources": {"requests": size}, "volumeName": name},
    }
    return volume, claim


def device_class(name, resource):
    """What kube-scheduler may satisfy requests for this resource with, on nodes that do not list it."""
    selectors = [{"cel": {"expression": f'device.driver == "{name}.example.com"'}}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"extendedResourceName": resource, "selectors": selectors},
    }


def device_on(node, name):
    """One device of that class, as a driver on the node publishes it."""
    driver = f"{name}.example.com"
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{name}-{node}"},
        "spec": {
            "driver": driver,
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "chip-0"}],
        },
    }


def gpu_quota(name, gpus, namespace=TEAM):
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"hard": {f"requests.{GPU}": gpus}},
    }


def limit_range(name, cpu, gpus, namespace=TEAM):
    """Containers that leave out their CPU get this much, and no container gets more GPUs."""
    limit = {"type": "Container", "default": {"cpu": cpu}, "defaultRequest": {"cpu": cpu}, "max": {GPU: gpus}}
    return {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"limits": [limit]},
    }


def name_of(pod):
    return pod["metadata"]["name"]


def node_of(pod):
    return pod["spec"].get("nodeName")


def phase_of(pod):
    return pod["status"].get("phase")


def gpus_of(pod, resource=GPU):
    return sum(
        int(each.get("resources", {}).get("requests", {}).get(resource, "0")) for each in pod["spec"]["containers"]
    )


def has_ended(pod):
    return phase_of(pod) in ("Succeeded", "Failed")


def bound_and_live(pods):
    """The pods that are on a node and have not ended."""
    return [pod for pod in pods if node_of(pod) and not has_ended(pod)]


def gpus_by_node(pods):
    """GPUs taken on every node by its pods that have not ended."""
    taken = {}
    for pod in bound_and_live(pods):
        taken[node_of(pod)] = taken.get(node_of(pod), 0) + gpus_of(pod)
    return taken


def waiting_job(name, pods=1, gpus=1, gang=False, namespace="default", scheduler="gpu-scheduler",
                duration=None, deadline_after=None, annotations=None, resource=GPU):  # fmt: skip
    """A Job as the webhook leaves it: suspended by Slackline, its pods gated."""
    notes = {"slackline.dev/suspended-by": "slackline", **(annotations or {})}
    if deadline_after:
        notes["slackline.dev/deadline-after"] = deadline_after
    pod = gpu_pod(name, gpus, namespace, scheduler, duration, resource=resource)
    template = {
        "metadata": {
            "labels": {"slackline.dev/managed": "true"},
            "annotations": pod["metadata"]["annotations"],
        },
        "spec": {**pod["spec"], "schedulingGates": [{"name": "slackline.dev/queue"}]},
    }
    spec = {"suspend": True, "parallelism": pods, "completions": pods, "template": template}
    if gang:
        spec["completionMode"] = "Indexed"
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace, "annotations": notes},
        "spec": spec,
    }


def denying_policy(name, rule, expression, message, namespace=None):
    """An admission policy of somebody else that refuses what makes the expression false, and its binding."""
    group = "admissionregistration.k8s.io/v1"
    where = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}} if namespace else {}
    return [
        {
            "apiVersion": group,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": name},
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": {"resourceRules": [rule]},
                "validations": [{"expression": expression, "message": message}],
            },
        },
        {
            "apiVersion": group,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": name},
            "spec": {"policyName": name, "validationActions": ["Deny"], "matchResources": where},
        },
    ]
