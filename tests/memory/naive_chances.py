"""The chances of a verdict learned slowly: a run after another, formulas as the text of `chances` has them."""

import math


def learned(rows):
    """Return the model of runs with history.

    Args:
        rows: each a dict of n, running, largest, squares, mean_hours, use, request, hours, key.

    Returns:
        record, tail, heavy_share, heavy_scale, spread, longer, and (seen, expected) by key.
    """
    rows = [row for row in rows if row["n"] >= 2]
    for row in rows:
        row["weight"] = row["n"] ** 2 / (row["n"] + row["running"])
        row["beyond"] = math.log(row["use"] / row["largest"])
        row["exceeds"] = row["beyond"] > 1e-9
    variance = (sum(row["squares"] for row in rows) + 0.2**2 * 2) / (sum(row["n"] - 1 for row in rows) + 2)
    b0, b1 = records(rows)
    above = [row for row in rows if row["exceeds"]]
    for row in above:
        spread = math.sqrt((row["squares"] + 3 * variance) / (row["n"] - 1 + 3))
        row["unit"] = math.sqrt(2 * math.log(row["weight"] + 1)) / spread
    keys = {row["key"] for row in rows}
    seen = {key: sum(row["exceeds"] for row in rows if row["key"] == key) for key in keys}
    chances = {key: sum(chance(b0, b1, row) for row in rows if row["key"] == key) for key in keys}
    return (b0, b1), beyond(above), math.sqrt(variance), seen, chances


def chance(b0, b1, row):
    return min(math.exp(b0 - b1 * math.log(row["weight"] + 1)), 0.95)


def records(rows):
    """Climb to the most likely b0 and b1 by ever smaller steps in four directions."""

    def likelihood(b0, b1):
        total = -0.5 * b0**2 - 0.5 * 4 * (b1 - 1) ** 2
        for row in rows:
            p = min(max(math.exp(b0 - b1 * math.log(row["weight"] + 1)), 1e-9), 0.95)
            total += math.log(p if row["exceeds"] else 1 - p)
        return total

    at, step = [0.0, 1.0], 0.5
    best = likelihood(*at)
    while step > 1e-6:
        for place, way in ((0, 1), (0, -1), (1, 1), (1, -1)):
            tried = list(at)
            tried[place] += way * step
            found = likelihood(*tried)
            if found > best:
                at, best = tried, found
                break
        else:
            step /= 2
    return at


def beyond(above):
    """Return b2, h and t by expectation maximisation."""
    third = [3 * math.log(1 + row["beyond"] * row["unit"] / 3) for row in above]
    tail, share, scale = (len(above) + 2) / (sum(third) + 2), 0.1, 0.5
    for _ in range(120):
        own = []
        for row in above:
            z = row["beyond"] * row["unit"]
            stable = (1 - share) * tail * row["unit"] / (1 + z / 3) ** (3 * tail + 1)
            heavy = share * math.exp(-row["beyond"] / scale) / scale
            own.append(heavy / (stable + heavy))
        before = tail, share, scale
        share = (sum(own) + 0.1 * 10) / (len(above) + 10)
        scale = (sum(one * row["beyond"] for one, row in zip(own, above, strict=True)) + 0.5 * 5) / (sum(own) + 5)
        tail = (sum(1 - one for one in own) + 2) / (sum((1 - one) * a for one, a in zip(own, third, strict=True)) + 2)
        if max(abs(a - b) for a, b in zip(before, (tail, share, scale), strict=True)) < 1e-8:
            break
    return tail, share, scale
