"""The pods of an export, joined by cluster, namespace, name and uid into runs: a row per pod, or per container."""

import itertools
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from workprof.core.units import HOUR_S
from workprof.formats.declare import Read, Remark
from workprof.formats.kubernetes_rows import CAUSES
from workprof.formats.pod_run import OVER, PodRun, Told, is_one_pod, tellings, whole_pod_only
from workprof.formats.pod_series import (
    CLUSTER,
    CPU,
    CPU_TOTAL,
    CREATED,
    ENDED,
    GPU,
    GPU_MEMORY,
    KILLS,
    LAST_REASON,
    LIMIT,
    MEMORY,
    NAMESPACE,
    OOM_KILLED,
    PHASE,
    POD,
    REASON,
    REQUEST,
    STARTED,
    USES,
    Floats,
    Growth,
    Quantity,
    Series,
    in_order,
    label,
)
from workprof.formats.pod_tasks import SERVICES, Ends, TaskNames, Work, work_of
from workprof.formats.pod_windows import windows_text

Cell = str | float | None

TEXTS = (
    *("pod", "cluster", "namespace", "container", "workload", "task", "run", "node", "status", "owner_kind"),
    *("gpu_type", "init_container", "reason", "uid", "windows"),
)
NUMBERS = (
    *("created", "start", "end", "duration", "cpu_request", "memory_request", "gpu_request"),
    *("cpu_limit", "memory_limit", "pod_cpu_request", "pod_memory_request"),
    *("cpu_used", "memory_mean", "memory_peak", "gpu_used", "gpu_memory_mean", "gpu_memory_peak"),
    *("samples", "restarts", "kills"),
)
COLUMNS = (*TEXTS, *NUMBERS)
RUNNING = ("Running", "Pending", "Unknown")


@dataclass(frozen=True)
class Row:
    """A row to come: its pod, whose work it is, its containers (none = the whole pod), and the one it is called by."""

    run: PodRun
    work: Work
    names: tuple[str, ...] = ()
    container: str = ""
    init: bool = False


@dataclass(frozen=True)
class _Times:
    """When a pod ran: NaN = not known."""

    start: float
    end: float
    observed: float  # seconds of it that the export shows
    going: bool  # it runs on at the end of the export


@dataclass
class PodRuns:
    """The pods of all files, in the order in which they are first told of."""

    # (cluster, namespace, name) -> its series
    told: dict[tuple[str, str, str], list[Told]] = field(default_factory=dict)
    # (cluster, namespace, kind, name) of what made pods -> kind and name of what made that
    owners: dict[tuple[str, str, str, str], tuple[str, str]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    empty: Counter[str] = field(default_factory=Counter)  # files with an answer without a series
    # metrics of exporters that tell of other pods: what a series without one is of names no pod (an idle GPU)
    exporters: set[tuple[str, ...]] = field(default_factory=set)
    taken_for: dict[str, tuple[str, str]] = field(default_factory=dict)  # what -> level, and what it was taken for
    thousands: int = 0  # values in which a sign was taken for a separator of thousands
    day_told: int = 0  # files of which other samples, or the name, tell whether the day or the month is first
    repeated: int = 0  # points whose time repeats in their series
    # points of sums that counted a container twice after its restart, by pod
    doubled: Counter[str] = field(default_factory=Counter)
    tells_kills: bool = False  # some series tells why containers ended
    first: float = np.inf
    last: float = -np.inf  # last moment of any series with several points of use or of phases
    last_of_any: float = -np.inf

    def take(self, name: str, quantity: Quantity, series: Series) -> None:
        """Add a series of a pod; points without a finite value are left out, of equal times the larger value counts."""
        times, values, repeated = in_order(series.times, series.values)
        self.repeated += repeated
        if not times.size:
            return
        if quantity.kind in (*USES, PHASE):
            self.first = min(self.first, float(times[0]))
            self.last = max(self.last, float(times[-1])) if times.size > 1 else self.last
        self.last_of_any = max(self.last_of_any, float(times[-1]))
        if quantity.kind not in USES:
            times, values = _changes(times, values)
        self.tells_kills = self.tells_kills or quantity.kind in (REASON, LAST_REASON, KILLS)
        key = (label(series.labels, CLUSTER), label(series.labels, NAMESPACE), label(series.labels, POD))
        told = Told(quantity, name, Series(series.line, series.labels, times, values * quantity.scale))
        if series.labels.get("exported_pod") and series.labels.get("pod"):
            self.exporters.add(_exporter(told))
        self.told.setdefault(key, []).append(told)

    def take_owner(self, labels: Mapping[str, str], name: str) -> None:
        """Add what made a ReplicaSet, a Job or a ReplicationController, as a metric of these tells."""
        kinds = {"replicaset": "ReplicaSet", "job": "Job", "replicationcontroller": "ReplicationController"}
        of = next(kind for kind in kinds if f"kube_{kind}_owner" in name)
        own = labels.get("job_name", "") if of == "job" else labels.get(of, "")
        if labels.get("owner_name", "<none>") != "<none>":
            key = (label(labels, CLUSTER), label(labels, NAMESPACE), kinds[of], own)
            self.owners[key] = (labels.get("owner_kind", ""), labels["owner_name"])

    def rows(self) -> Iterator[Read | Remark]:
        """Yield a row per pod or container, and what is to be said of them."""
        self._leave_out_exporters()
        self._take_rates()
        renamed = self._join_renamed_clusters()
        self._join_nameless()
        runs = list(self._runs())
        step = min((run.step for run in runs), default=np.inf)
        self.last = self.last if np.isfinite(self.last) else self.last_of_any
        ends = Ends({name for run in runs for name in (run.pod, run.made[1], *run.labels.values()) if name})
        works = {id(run): work_of(run.pod, run.owner(self.owners), run.labels, ends) for run in runs}
        rows = [row for run in runs for row in self._rows_of(run, works[id(run)])]
        names, tasks = self._named(rows)
        times = {id(run): self._times(run, works[id(run)], step) for run in runs}
        no_request = not any(REQUEST_OF_MEMORY in one.declared for run in runs for one in run.containers.values())
        limits = 0
        for row in rows:
            cells = self._cells(row, times[id(row.run)])
            if no_request and cells["memory_limit"] is not None:
                cells["memory_request"] = cells["memory_limit"]
                limits += not row.names or row.names == tuple(row.run.by_container()[:1])
            cells |= {"pod": names[id(row.run)], "task": tasks[id(row)]}
            yield Read(row.run.line, [cells[name] for name in COLUMNS])
        if renamed:
            some = ", ".join(f"{one[:40]!r} is {other[:40]!r}" for one, other in list(renamed.items())[:5])
            text = f"{len(renamed):,} names of clusters changed: their pods went on under a later one ({some})"
            yield Remark("clusters renamed", len(renamed), text)
        yield from self._remarks(rows, times, limits)

    def _leave_out_exporters(self) -> None:
        """Leave out the series of exporters that name no pod but their own."""
        for key, told in list(self.told.items()) if self.exporters else ():
            own = [_exporter(one) in self.exporters and not one.series.labels.get("exported_pod") for one in told]
            self.left_out.update(one.name for one, is_own in zip(told, own, strict=True) if is_own)
            self.told[key] = [one for one, is_own in zip(told, own, strict=True) if not is_own]
            if all(own):
                del self.told[key]

    def _take_rates(self) -> None:
        """Take the totals of a metric for cores where they fall as often as rates do: some stores keep its name.

        Source: VictoriaMetrics' documentation of keep_metric_names.
        """
        steps: dict[str, list[Floats]] = {}
        for told in self.told.values():
            for one in told:
                if one.quantity.kind == CPU_TOTAL:
                    steps.setdefault(one.name, []).append(np.diff(one.series.values))
        changes = {name: (every := np.concatenate(some))[every != 0] for name, some in steps.items()}
        rates = {name for name, some in changes.items() if some.size >= MANY_STEPS and (some < 0).mean() >= FALLS}
        for name in rates:
            text = "the numbers fall too often for a total, and are taken for cores; export it without rate() if not so"
            self.taken_for[name] = "warning", text
        for key, told in self.told.items() if rates else ():
            self.told[key] = [
                replace(one, quantity=replace(one.quantity, kind=CPU))
                if one.name in rates and one.quantity.kind == CPU_TOTAL
                else one
                for one in told
            ]

    def _runs(self) -> Iterator[PodRun]:
        for (cluster, namespace, pod), told in self.told.items():
            for uid, parts in tellings(told):
                run = PodRun(parts[0].series.line, cluster, namespace, pod, uid)
                for part in parts:
                    run.take(part)
                yield run

    def _rows_of(self, run: PodRun, work: Work) -> Iterator[Row]:
        apart = run.by_container()
        for name in apart:
            yield Row(run, work, (name,), name)
        if not apart:
            known = [name for name in run.apps if run.containers[name].samples or run.containers[name].declared]
            yield Row(run, work, (), known[0] if len(known) == 1 else "")
        for name in run.inits():
            yield Row(run, work, (name,), name, init=True)

    def _named(self, rows: Collection[Row]) -> tuple[dict[int, str], dict[int, str]]:
        """The names of pods and of the tasks of rows.

        A pod of the name of another namespace's or cluster's is called NAMESPACE/NAME. All rows of a task of which one
        pod has several containers are named with their container.
        """
        first: dict[str, tuple[str, str]] = {}
        names = {}
        for row in rows:
            run = row.run
            place = (run.cluster, run.namespace)
            own = [run.pod]
            if first.setdefault(run.pod, place) != place:
                own = [*([run.cluster] if first[run.pod][1] == run.namespace else []), run.namespace, run.pod]
            names[id(run)] = "/".join(part for part in own if part)
        several = {_task(row)[:4] for row in rows if row.names and not row.init}
        keys = {
            id(row): (*_task(row)[:4], row.container if row.init or _task(row)[:4] in several else "") for row in rows
        }
        tasks = TaskNames()
        tasks.name({keys[id(row)]: row.work.named_step for row in rows})
        return names, {place: tasks.given[key] for place, key in keys.items()}

    def _times(self, run: PodRun, work: Work, step: float) -> _Times:
        first, last = run.used if run.samples else run.seen
        phase, told_last = run.phase[1], max(last, run.phase_last)
        at_end = told_last > self.last - step if np.isfinite(step) else told_last >= self.last
        goes = phase in RUNNING or (not phase and work.kind in SERVICES)
        going = goes and at_end and ENDED not in run.moments
        started = run.moments.get(STARTED, first)
        if going and started < self.first:
            started = first
        if phase == "Pending" and not run.samples:
            return _Times(np.nan, np.nan, np.nan, going)
        if phase in OVER and not run.samples and ENDED not in run.moments:  # told of long after it was over
            began, over = run.moments.get(STARTED, run.ran), run.over if run.over > self.first else np.nan
            return _Times(began, over, over - began, going)
        end = np.nan if going else run.moments.get(ENDED, last)
        return _Times(started, end, (told_last if going else end) - started, going)

    def _serves(self, row: Row, times: _Times) -> bool:
        """Tell whether a row is judged by windows: of a service, or of what runs on at the end of the export."""
        unsaid = not row.run.phase[1] and not row.work.kind and ENDED not in row.run.moments
        serves = row.work.kind in SERVICES or times.going or (unsaid and times.end >= self.last)
        return serves and not row.init and row.run.phase[1] not in OVER

    def _cells(self, row: Row, times: _Times) -> dict[str, Cell]:
        run, names = row.run, row.names
        of_init = row.init
        start, end = run.containers[names[0]].used if of_init else (times.start, times.end)
        memory, gpu, gpu_memory = (run.gauge(kind, names) for kind in (MEMORY, GPU, GPU_MEMORY))
        cpu = run.cpu(names)
        kills = run.kills(names)
        reason = run.reason(names)
        chosen = [run.containers[name] for name in names or run.containers]
        seconds = end - start if of_init else times.observed
        return {
            "cluster": run.cluster,
            "namespace": run.namespace,
            "container": row.container,
            "workload": row.work.workload,
            "run": row.work.run,
            "node": run.node,
            "gpu_type": run.gpu_type,
            "status": None if of_init else _status(run, reason, going=times.going),
            "owner_kind": row.work.kind,
            "init_container": "yes" if row.container and run.containers[row.container].among_first else None,
            "reason": reason,
            "uid": run.uid,
            "windows": windows_text(memory, cpu, run.step) if self._serves(row, times) else None,
            "created": run.moments.get(CREATED),
            "start": _known(start),
            "end": _known(end),
            "duration": _known(seconds) if seconds >= 0 else None,
            "cpu_request": run.amount(REQUEST, "cpu", names),
            "memory_request": run.amount(REQUEST, "memory", names),
            "gpu_request": run.amount(REQUEST, "gpu", names),
            "cpu_limit": run.amount(LIMIT, "cpu", names),
            "memory_limit": run.amount(LIMIT, "memory", names),
            "pod_cpu_request": run.set_aside("cpu"),
            "pod_memory_request": run.set_aside("memory"),
            "cpu_used": _mean_cores(cpu),
            "memory_mean": _mean(memory),
            "memory_peak": None if memory is None else float(memory.values.max()),
            "gpu_used": _mean(gpu),
            "gpu_memory_mean": _mean(gpu_memory),
            "gpu_memory_peak": None if gpu_memory is None else float(gpu_memory.values.max()),
            "samples": float(max((one.samples for one in chosen), default=0)),
            "restarts": sum(one.restarted() for one in chosen),
            "kills": max(kills, float(reason == OOM_KILLED)) or (0.0 if self.tells_kills else None),
        }

    def _join_renamed_clusters(self) -> dict[str, str]:
        """Give clusters of one pod one name, its last; return the names that they had before with the one they get."""
        homes: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
        for key in self.told:
            if key[0]:
                homes.setdefault(key[1:], []).append(key)
        later: dict[str, str] = {}

        def last_name(cluster: str) -> str:
            while cluster in later:
                cluster = later[cluster]
            return cluster

        for (_, pod), keys in homes.items():
            keys.sort(key=lambda key: max(one.series.last for one in self.told[key]))
            for one, other in itertools.pairwise(keys):
                before, after = last_name(one[0]), last_name(other[0])
                if before != after and is_one_pod(pod, self.told[one], self.told[other]):
                    later[before] = after
        result = {cluster: last_name(cluster) for cluster in later}
        for key in [key for key in self.told if key[0] in result] if result else ():
            self.told.setdefault((result[key[0]], *key[1:]), []).extend(self.told.pop(key))
        self.owners = {(result.get(key[0], key[0]), *key[1:]): owner for key, owner in self.owners.items()}
        return result

    def _join_nameless(self) -> None:
        """Join pods that are told of without a cluster or a namespace with the one pod of that name that has one."""
        for without in ((True, False), (False, True), (True, True)):
            homes: dict[tuple[str, ...], list[tuple[str, str, str]]] = {}
            for key in self.told:
                homes.setdefault(_without(key, *without), []).append(key)
            for keys in homes.values():
                full = [key for key in keys if all(key[at] for at in (0, 1) if without[at])]
                bare = [key for key in keys if not any(key[at] for at in (0, 1) if without[at])]
                if len(full) == 1 and bare:
                    for key in bare:
                        self.told[full[0]] += self.told.pop(key)

    def _remarks(self, rows: Collection[Row], times: Mapping[int, _Times], limits: int) -> Iterator[Remark]:
        runs = list({id(row.run): row.run for row in rows}.values())
        for what, (level, text) in self.taken_for.items():
            yield Remark("quantity", 1, f"{what}: {text}", level)
        unsaid = [run for run in runs if not run.phase[1] and ENDED not in run.moments and not times[id(run)].going]
        used = any(run.samples for run in runs)
        guessed = sum(not row.work.told and row.work.workload != row.run.pod for row in rows)
        disagree = [apart for run in runs if (apart := set().union(*(one.disagree for one in run.containers.values())))]
        counts = (
            (
                "until the end of the export",
                "info",
                sum(run.samples > 0 and run.used[1] >= self.last for run in unsaid),
                "pods have their last sample at the last time of the export: they may run on; their time counts until "
                "then (export kube_pod_status_phase too, to know)",
            ),
            (
                "limits for requests",
                "warning",
                limits,
                "pods: no requests are exported, so the limit stands for the request",
            ),
            (
                "resized",
                "warning",
                sum(any(one.resized for one in run.containers.values()) for run in runs),
                "pods had requests or limits that changed while they ran: the largest counts throughout",
            ),
            (
                "several containers",
                "info",
                len({id(row.run) for row in rows if row.names}),
                f"pods have several containers: each is a row of its own ({len(rows):,} rows of {len(runs):,} pods)",
            ),
            (
                "whole pod only",
                "warning",
                sum(whole_pod_only(run) for run in runs if run.by_container()),
                "pods have rows per container, and a use that is known for the whole pod only: it is in none of them "
                "(export it by container)",
            ),
            (
                "unseen",
                "warning",
                sum(not run.samples and run.phase[1] != "Pending" for run in runs) if used else 0,
                "pods have no sample of use: they were shorter than the time between samples, or their use is not "
                "exported; nothing says what they used",
            ),
            (
                "seen once",
                "info",
                sum(run.samples == 1 for run in runs),
                "pods have one sample of use: their peak is that sample's",
            ),
            (
                "seen apart",
                "warning",
                sum(_may_be_two(run) for run in runs),
                "pods have no sample for an hour or more, and then have some: they are one run, whose time counts "
                "throughout; export kube_pod_created or the pods' uid, so that a pod made again is another run",
            ),
            (
                "killed for memory",
                "warning",
                sum(run.kills(()) > 0 or run.reason() == OOM_KILLED for run in runs),
                "pods had a container killed for memory: it needed at least its limit (out_of_memory_kills)",
            ),
            (
                "tasks by names",
                "info",
                guessed,
                "rows: no owner and no label is exported, so the task is the pod's name without its random end (export "
                "kube_pod_owner and kube_pod_labels)",
            ),
            (
                "repeated times",
                "warning",
                self.repeated,
                "points repeat a time of their series (a change of the clock, a file given twice): the larger counts",
            ),
            (
                "series disagree",
                "warning",
                len(disagree),
                "pods have several series of one container that differ by more than a tenth: the larger counts. They "
                f"differ in the labels {', '.join(sorted(set().union(*disagree)))[:200]}; where one of these is the "
                "cluster, call it cluster",
            ),
            (
                "counted twice",
                "warning",
                len(self.doubled),
                f"pods: a sum over containers counted one twice for up to five minutes after a restart; "
                f"{self.doubled.total():,} points are less the container that was gone (export by container, or sum "
                "max by (namespace, pod, container))",
            ),
            (
                "day or month first",
                "warning",
                self.day_told,
                "files have times such as 05/01/2024: the days near one another, or the day in the file's name, tell "
                "whether the month is first (export them as 2026-01-31 10:00:00 if that is wrong)",
            ),
            (
                "thousands separators",
                "info",
                self.thousands,
                "values have separators of thousands ('314,572' is 314572): other values of the file tell so",
            ),
        )
        for name, level, count, text in counts:
            if count:
                yield Remark(name, count, f"{count:,} {text}", level)
        if self.empty:
            names = ", ".join(name[:60] for name in list(self.empty)[:5])
            count = self.empty.total()
            yield Remark("empty answers", count, f"answers without a series: {names}")
        if self.left_out:
            names = ", ".join(f"{name[:60]} ({count:,})" for name, count in self.left_out.most_common(5))
            total = sum(self.left_out.values())
            yield Remark("other series", total, f"{total:,} series say nothing of a pod and were left out: {names}")


def _may_be_two(run: PodRun) -> bool:
    """Tell whether nothing but a gap says that a pod was made again under its name."""
    known = run.uid or {CREATED, STARTED} & run.moments.keys()
    return not known and run.longest[1] >= max(HOUR_S, MANY_STEPS * run.step)


MANY_STEPS = 10
FALLS = 0.25
"""Share of the steps of a total that are falls at most: it falls where a container was restarted."""
REQUEST_OF_MEMORY = (REQUEST, "memory")


def _task(row: Row) -> tuple[str, str, str, str, str]:
    return row.run.cluster, row.run.namespace, row.work.workload, row.work.step, row.container


def _without(key: tuple[str, str, str], cluster: bool, namespace: bool) -> tuple[str, str, str]:
    return "" if cluster else key[0], "" if namespace else key[1], key[2]


def _status(run: PodRun, reason: str, *, going: bool) -> str | None:
    phase = run.phase[1]
    if going:
        return phase or "Running"
    if phase in ("", "Failed"):
        if reason == OOM_KILLED:
            return OOM_KILLED
        if run.why in CAUSES:
            return run.why
    return None if phase in RUNNING else phase or None


def _exporter(told: Told) -> tuple[str, ...]:
    """The metric of a series, and the pods that were scraped for it: those with one container, or the one pod."""
    labels = told.series.labels
    scraped = labels.get("container") or labels.get("pod", "")
    return told.name, label(labels, CLUSTER), labels.get("namespace", ""), scraped


def _changes(times: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The points at which a value changes, those before them, and the ends."""
    changed = np.diff(values) != 0
    kept = np.concatenate([[True], changed]) | np.concatenate([changed, [True]])
    return times[kept], values[kept]


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _mean(series: Series | None) -> float | None:
    return None if series is None else float(series.values.mean())


def _mean_cores(cpu: Series | Growth | None) -> float | None:
    if isinstance(cpu, Growth):
        return None if not cpu.begins.size else cpu.total / (cpu.span[1] - cpu.span[0])
    return _mean(cpu)
