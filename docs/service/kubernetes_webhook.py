"""A mutating webhook of Kubernetes: memory requests of new pods from workprof.

A container is known by namespace, workload and its name; in other traces by its task: the pod's label `workprof/task`,
else, without an owner, the name of the container. A container whose size is advised gets it as its memory request, and
as its limit where it has one. Everything else, and every pod without an answer within 50 ms, is admitted as it is.

    WORKPROF_URL=http://127.0.0.1:8600 python kubernetes_webhook.py 8443 tls.crt tls.key
"""

import base64
import http.server
import json
import math
import os
import re
import ssl
import sys
import urllib.request

URL = os.environ.get("WORKPROF_URL", "http://127.0.0.1:8600")
TOKEN = os.environ.get("WORKPROF_TOKEN", "")
PATIENCE_S = 0.05
UNITS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "m": 1e-3}
LARGEST_REVIEW = 4_000_000


def quantity(text: object) -> float | None:
    """Return the bytes of a quantity such as 512Mi; None for another text."""
    found = re.fullmatch(r"([0-9.]+(?:e[0-9]+)?)(|m|[kMGT]|[KMGT]i)", str(text))
    return float(found[1]) * UNITS[found[2]] if found else None


def sizes(jobs: list[dict]) -> list[dict]:
    """Return workprof's answer for each job, [] without one in time."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {TOKEN}"} if TOKEN else {})
    request = urllib.request.Request(f"{URL}/v1/size", json.dumps({"jobs": jobs}).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return json.load(answer)["sizes"]
    except (OSError, ValueError, KeyError):
        return []


def job_of(container: dict, pod: dict, namespace: str) -> dict:
    """Return what workprof is asked of a container."""
    about = pod.get("metadata", {})
    labels, owner = about.get("labels") or {}, next(iter(about.get("ownerReferences") or []), {})
    job = {"namespace": namespace, "container": container["name"]}
    if owner.get("name"):
        hashed = f"-{labels.get('pod-template-hash', '')}"
        job["workload"] = owner["name"].removesuffix(hashed) if owner.get("kind") == "ReplicaSet" else owner["name"]
    if "workprof/task" in labels or not owner:
        job["task_name"] = labels.get("workprof/task", container["name"])
    asked = quantity(container.get("resources", {}).get("requests", {}).get("memory", ""))
    return job | ({"requested_memory_gb": asked / 1e9} if asked else {})


def patch_of(pod: dict, namespace: str) -> list[dict]:
    """Return the JSON patch of a pod's containers."""
    containers = pod.get("spec", {}).get("containers", [])
    jobs = [job_of(container, pod, namespace) for container in containers]
    patch = []
    for place, (container, size) in enumerate(zip(containers, sizes(jobs) if jobs else [], strict=False)):
        if size["source"] != "advice":
            continue
        memory = f"{math.ceil(size['size_gb'] * 1e9 / 2**20)}Mi"
        resources = dict(container.get("resources", {}))
        for part in ("requests", "limits"):
            if part == "requests" or "memory" in resources.get(part, {}):
                resources[part] = {**resources.get(part, {}), "memory": memory}
        patch.append({"op": "add", "path": f"/spec/containers/{place}/resources", "value": resources})
    return patch


def review(document: dict) -> dict:
    """Return the answer to an AdmissionReview; every pod is admitted."""
    request = document["request"]
    response = {"uid": request["uid"], "allowed": True}
    if request.get("kind", {}).get("kind") == "Pod" and request.get("operation", "CREATE") == "CREATE":
        patch = patch_of(request["object"], request.get("namespace", ""))
        if patch:
            encoded = base64.b64encode(json.dumps(patch).encode()).decode()
            response |= {"patchType": "JSONPatch", "patch": encoded}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}


class Webhook(http.server.BaseHTTPRequestHandler):
    """Answers AdmissionReviews."""

    def do_POST(self) -> None:
        """Answer one."""
        length = int(self.headers.get("Content-Length", 0))
        try:
            if length > LARGEST_REVIEW:
                raise ValueError("too large")
            status, answer = 200, review(json.loads(self.rfile.read(length)))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            status, answer = 400, {"error": f"no AdmissionReview: {error}"}
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main(port: str, certificate: str = "", key: str = "") -> None:
    """Serve until the process ends; without a certificate on this machine alone, to try it."""
    server = http.server.ThreadingHTTPServer(("" if certificate else "127.0.0.1", int(port)), Webhook)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
