"""Pods as they are now: `kubectl get pods` of this host, or the API by URL; those that went stay as last seen.

Source: Kubernetes' documentation of its API (lists by parts: limit, continue).
"""

import json
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from workprof.core.progress import Progress
from workprof.formats.kubernetes import TAKEN
from workprof.sources.api import EXCERPT, Api, SourceUnreachable
from workprof.sources.fetched import Fetched, Place, State, reading
from workprof.sources.source import Source
from workprof.store.reports import IngestOptions

PODS_A_PART = 500
LONGEST_S = 600


def fetch(source: Source, state: State, place: Place) -> Fetched:
    """The pods that are there.

    Raises SourceUnreachable when the API or kubectl does not answer, or not with a list of pods.
    """
    place.progress(0.0, "listing pods")
    items = _of_api(source, place.progress) if source.address else _of_kubectl(source)
    file = place.passing / "pods.json"
    taken = datetime.fromtimestamp(place.now_s, UTC).isoformat(timespec="seconds")
    whole = {"apiVersion": "v1", "kind": "PodList", TAKEN: taken, "items": items}
    file.write_text(json.dumps(whole), encoding="utf-8")
    load = reading([file], IngestOptions(format="kubernetes", name=source.name))
    return Fetched(load if items else None, replace(state, until_s=place.now_s))


def _of_api(source: Source, progress: Progress) -> list[Any]:
    items: list[Any] = []
    query = {"limit": str(PODS_A_PART)} | ({"labelSelector": source.selector} if source.selector else {})
    with Api(source.address, source.credentials) as api:
        while True:
            part = api.json("/api/v1/pods", query)
            if not isinstance(part, dict) or not isinstance(part.get("items"), list):
                raise SourceUnreachable(f"{source.shown} answered no list of pods; check --url")
            items += part["items"]
            progress(None, f"{len(items):,} pods have come")
            following = (part.get("metadata") or {}).get("continue")
            if not following:
                return items
            query = query | {"continue": str(following)}


def _of_kubectl(source: Source) -> list[Any]:
    command = ["kubectl", "get", "pods", "--all-namespaces", "--output=json"]
    command += [f"--selector={source.selector}"] if source.selector else []
    try:
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=LONGEST_S, check=False)
    except FileNotFoundError as error:
        raise SourceUnreachable("kubectl is not installed on this host; give --url and --token") from error
    except subprocess.TimeoutExpired as error:
        raise SourceUnreachable(f"kubectl gave no end within {LONGEST_S} s") from error
    told = " ".join(done.stderr.decode(errors="replace").split())[:EXCERPT]
    if done.returncode:
        raise SourceUnreachable(f"kubectl failed with status {done.returncode} ({told or 'no words'})")
    try:
        items = json.loads(done.stdout)["items"]
    except (ValueError, KeyError, TypeError) as error:
        raise SourceUnreachable(f"kubectl answered no list of pods ({told or 'no words'})") from error
    return list(items)
