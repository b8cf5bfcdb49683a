"""What a visitor does: links, the menu, tabs, controls, forms, the list of datasets; each is one run of a page.

Every answer is checked: it is about the visitor's own dataset, no text of another dataset stands in it, and a link that
is opened afresh shows the words, charts and tables that it showed to a visitor who was alone, to the byte.
"""

import difflib
import hashlib
import re
from dataclasses import dataclass, field, replace

from streamlit.proto.Alert_pb2 import Alert  # noqa: TID251  a tab reads Streamlit's messages

from tests.load.visitor import MAIN, Troubled, moved, opened, pressed, state

LINKS = (
    ("", {}),
    ("data", {"data_tab": "Preview"}),
    ("data", {"data_tab": "Columns"}),
    ("data", {"data_tab": "Columns"}),
    ("profiles", {"profiles_tab": "Sizes"}),
    ("profiles", {"profiles_tab": "Map"}),
    ("profiles", {"profiles_tab": "Silhouettes"}),
    ("profiles", {"profiles_tab": "Export"}),
    ("durations", {"durations_tab": "Observed", "durations_by": "user"}),
    ("durations", {"durations_tab": "Observed", "durations_percentile": "75"}),
    ("memory", {"memory_tab": "Tasks"}),
    ("memory", {"memory_tab": "Bins", "memory_k": "4"}),
    ("memory", {"memory_tab": "Bins", "memory_k": "2"}),
    ("memory", {"memory_tab": "Plan", "memory_times": "0.7"}),
    ("memory", {"memory_tab": "Policies"}),
    ("classify", {}),
    ("sweep", {}),
    ("nodes", {"nodes_tab": "Ranking"}),
    ("phases", {"phases_tab": "Timeline"}),
    ("help", {"help_tab": "Methods"}),
)
MENU = ("", "data", "classify", "sweep", "durations", "memory", "nodes", "phases", "runs", "report", "help")
OTHER_KINDS = {"nodes": "benchmarks", "phases": "telemetry"}
ANY_KIND = ("", "data", "runs", "report", "help")
CHANGING = ("", "runs")
"""Pages that list the latest runs of every session: their words differ from moment to moment."""

EVERYBODYS = "runs"
"""The page that lists the runs on every dataset with their settings, and so the names of its tasks."""

NOT_HERE = (b"which this dataset does not have", b"is not one of the choices; the default is used")
"""What a page says of a task that the visitor had chosen in the dataset before this one."""

OF_A_TRACE = b"nodes_profile"
"""The list of profiles that nodes are ranked for: of the trace chosen there, perhaps before this one."""

OF_EVERYBODY = b"Through"
"""A heading of the audit log: it tells admins what was done to every dataset."""

EXPECTED = re.compile(r"(?:about )?[\d.]+ \w+(?: \d+ \w+)*(?:, up| to) .*?\((?:a guess\\?|from [^)]*)\)")
"""How long a computation will take: it follows what else this machine does at the moment."""

DEEDS = re.compile(r"The latest \d+ deeds")
"""How many deeds of all visitors the audit log shows; its table is not compared either."""

CONTROLS = {
    "memory_light": (1.0, 2.0, 3.0),
    "memory_moderate": (6.0, 8.0, 12.0),
    "memory_k": (1, 2, 3, 4, 5),
    "memory_margin": (5.0, 10.0, 20.0, 30.0),
    "memory_price": (0.01, 0.02, 0.03),
    "durations_percentile": (50.0, 75.0, 90.0, 99.0),
    "durations_log": (True, False),
    "durations_bands": (True, False),
    "durations_by": ("user", "task_name", "all", "profile"),
    "nodes_w_cpu": (0.5, 1.0, 2.0),
    "nodes_pairs": ("cpu", "memory", "overall"),
    "data_join": ("corrected", "faithful"),
    "sweep_preset": ("quick", "paper"),
    "help_term": ("memory", "profile", "node"),
}
KINDS = {"link": 20, "menu": 20, "tab": 16, "control": 22, "form": 6, "dataset": 6, "fresh": 10}
"""Kinds of interactions and how often each comes, of a hundred."""


@dataclass
class Visitor:
    """A tab, what its answers must be about, and the answers that a lone visitor got."""

    port: int
    tab: object
    known: dict
    others: dict
    word: str
    answers: dict
    last: str = ""
    done: dict = field(default_factory=lambda: dict.fromkeys(KINDS, 0))

    async def fresh(self, page, parameters):
        """Open a link in a tab of its own; it must show what a lone visitor saw (the first one to ask is alone)."""
        async with opened(self.port, f"{self.tab.name}, fresh", page, **self._query(page, parameters)) as tab:
            replace(self, tab=tab, last=self.known[self.word].hash).check(page)
        if page in CHANGING:
            return
        place, found = (self.word, page, tuple(parameters.items())), contents(tab)
        if self.answers.setdefault(place, found) != found:
            differ = "\n".join(difflib.unified_diff(self.answers[place], found, lineterm="", n=0))
            raise Troubled(f"{tab.name}: {place} shows something else than to a lone visitor:\n{differ[:2000]}")

    def _query(self, page, parameters):
        own = self.known[self.word].hash
        if page == "nodes":  # for the profiles of a trace, the first one where none is named
            return {"nodes_jobs": own, **parameters}
        return parameters if page in OTHER_KINDS else {"ds": own, **parameters}

    async def step(self, draw):
        """Do one thing, drawn at random; where the page has nothing of the kind a link is followed."""
        kind = draw.choices(list(KINDS), KINDS.values())[0]
        if not await getattr(self, f"_{kind}")(draw):
            kind = "link"
            await self._link(draw)
        self.done[kind] += 1

    async def _fresh(self, draw):
        await self.fresh(*draw.choice(LINKS))
        return True

    async def _link(self, draw):
        page, parameters = draw.choice([one for one in LINKS if one[0] != self.page])
        if page not in OTHER_KINDS:
            self.last = self.known[self.word].hash
        await self.tab.visit(page, **self._query(page, parameters))
        self.check(page)
        return True

    async def _menu(self, draw):
        page = draw.choice(MENU)
        await self.tab.visit(page)
        self.check(page)
        return True

    async def _tab(self, draw):
        boxes = self.tab.of("tab_container")
        names = [one.label for one in self.tab.of("tab")]
        if not boxes or self.page in OTHER_KINDS:  # some of their tabs begin with seconds of work
            return False
        return await self._set(state(boxes[0], draw.choice(names)))

    async def _control(self, draw):
        found = [
            one
            for kind in ("selectbox", "slider", "number_input", "checkbox", "text_input")
            for one in self.tab.of(kind, MAIN)
            if _key(one) in CONTROLS and not one.disabled
        ]
        if not found:
            return False
        control = draw.choice(found)
        value = draw.choice(CONTROLS[_key(control)])
        slider = control.DESCRIPTOR.name == "Slider"
        return await self._set(moved(control, value) if slider else state(control, value))

    async def _form(self, draw):
        fields = [one for one in self.tab.of("text_input") if one.label == "Scenario name"]
        if not fields:
            return False
        name = f"{self.word} plan {draw.randrange(3)}"
        self.tab.touched[fields[0].id] = state(fields[0], name)
        await self.tab.change(pressed(self.tab.labelled("button", "Save scenario")), once=True)
        self.check(self.page)
        if f"Saved as {name}" not in self.tab.words():
            raise Troubled(f"{self.tab.name}: scenario {name} was not kept:\n{self.tab.words()[:600]}")
        return True

    async def _dataset(self, draw):
        """Choose the other dataset in the sidebar: from now on every answer is about that one."""
        if self.page in OTHER_KINDS:
            return False
        picker = self.tab.labelled("selectbox", "Dataset")
        word = draw.choice([word for word in self.known if word != self.word])
        chosen = f"trace-of-{self.known[word].rows}"
        self.word, self.last = word, self.known[word].hash
        return await self._set(state(picker, chosen), keep=False)

    async def _set(self, wanted, *, keep=True):
        await self.tab.change(wanted, once=not keep)
        self.check(self.page)
        return True

    @property
    def page(self):
        return next(name for name, place in self.tab.pages.items() if place == self.tab.page)

    def check(self, page):
        """Raise unless the answer is sound, about the right dataset and without a word of another."""
        told = [one.message for one in self.tab.of("exception")]
        told += [one.body for one in self.tab.of("alert") if one.format == Alert.ERROR]
        if told or page != self.page:
            raise Troubled(f"{self.tab.name}: page {page!r} answered as {self.page!r}: {told}")
        own = self.known[self.word].hash
        self.last = self.others[OTHER_KINDS[page]] if page in OTHER_KINDS else self.last if page in ANY_KIND else own
        words = self.tab.words()
        shown = self.last or own
        if f"· {shown[:8]}" not in words:
            raise Troubled(f"{self.tab.name}: page {page!r} is not about {shown[:8]} ({self.word}):\n{words[:600]}")
        if page == EVERYBODYS:
            return
        strangers = [word.encode() for word in self.known if word != self.word]
        for element in self.tab.everything():
            if (page == "nodes" and OF_A_TRACE in element) or (page == "data" and OF_EVERYBODY in element):
                continue
            if any(word in element for word in strangers) and not any(one in element for one in NOT_HERE):
                raise Troubled(f"{self.tab.name}: page {page!r} shows {strangers} to {self.word}: {element[:300]}")


def contents(tab):
    """Return a page in lines: its words but for what others change, and a digest of every chart and table."""
    charts = [one.spec.encode() for one in tab.of("plotly_chart", MAIN)]
    tables = [one for one in tab.of("dataframe", MAIN) if OF_EVERYBODY not in one.SerializeToString()]
    tables = [one.arrow_data.data for one in tables]
    digests = [hashlib.blake2b(one, digest_size=8).hexdigest() for one in charts + tables]
    return [
        *DEEDS.sub("Some deeds", EXPECTED.sub("some time", tab.words())).splitlines(),
        f"{len(charts)} charts, {len(tables)} tables",
        *digests,
    ]


def _key(control):
    return control.id.rpartition("-")[2]
