"""Slow, obvious versions: one run after another, one attempt after another, everything known computed anew."""

import numpy as np


def try_one_by_one(used, hours, sizes, asked):
    told = {"charged": [], "wasted": [], "failures": [], "never_fit": 0, "given_up": 0}
    cap = float("inf") if asked.cap_bytes is None else asked.cap_bytes
    for i in range(len(used)):
        size = first = min(max(sizes.first_bytes[i], asked.floor_bytes), cap)
        charged, attempt, needed = 0.0, 1, 0.0
        while True:
            if size >= used[i]:
                charged += size * hours[i]
                needed = used[i] * hours[i]
                break
            charged += size * hours[i] * asked.time_to_failure
            attempt += 1
            if size >= cap:
                told["never_fit"] += 1
                break
            if attempt > asked.max_retries + 1:
                told["given_up"] += 1
                break
            size = min(next_size(size, first, attempt, sizes, i, asked), cap)
        failed = attempt - 1
        told["charged"].append(charged / 1e9)
        told["wasted"].append((charged - needed) / 1e9)
        told["failures"].append(failed)
    return told


def next_size(size, first, attempt, sizes, i, asked):
    above = [step for step in sizes.steps_bytes[i] if step > size]
    if above:
        return min(above)
    if sizes.beyond == "more":
        return max(1.2 * size, size + 100 * 1024**2)
    if sizes.beyond == "request_x_attempt":
        return first * attempt
    if sizes.beyond == "node" and size < asked.node_bytes:
        return asked.node_bytes
    return 2 * size


def tovar_size(used, hours):
    best, best_cost = None, float("inf")
    for size in sorted(set(used), reverse=True):
        missed = sum(h for u, h in zip(used, hours, strict=True) if u > size) / len(used)
        cost = size * np.mean(hours) + max(used) * missed
        if cost < best_cost * (1 - 1e-12):
            best, best_cost = size, cost
    return best


def min_waste_size(used, hours, weights):
    best, best_cost = None, float("inf")
    work = hours * weights
    for size in sorted(1.02 * used[weights > 0]):
        cost = size * work.sum() + 1.05 * used.max() * work[used > size].sum()
        if cost < best_cost * (1 - 1e-12):
            best, best_cost = size, cost
    return best


def local_weights(inputs, at):
    distances = np.abs(np.log1p(inputs) - np.log1p(at))
    k = min(len(inputs), max(8, int(0.15 * len(inputs))))
    width = max(sorted(distances)[k - 1], 1e-12)
    return np.where(distances <= 3 * width, np.exp(-((distances / width) ** 2) / 2), 0.0)


def line_with_spread(inputs, used, at, past_errors):
    if np.ptp(inputs) == 0:
        predicted = used.mean()
    else:
        slope = np.cov(inputs, used, bias=True)[0, 1] / inputs.var()
        predicted = used.mean() + slope * (at - inputs.mean())
    return predicted, predicted * (1 + (np.std(past_errors) if len(past_errors) else 0.0))
