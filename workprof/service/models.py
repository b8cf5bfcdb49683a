"""Bodies and answers of the service, as its OpenAPI document tells them; numbers are in the units of the fields' names.

What a body may name beside these fields are the trace's own columns, which differ from dataset to dataset: `jobs` reads
the values.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StrictBool, WithJsonSchema, create_model

from workprof.core.units import GB
from workprof.forecasts.encoder import SUBMIT_FIELDS
from workprof.formats.fields import DESCRIPTIONS, TEXT_FIELDS, TRUTH_FIELDS
from workprof.formats.new_jobs import IN_GB
from workprof.memory.resources import KEY_COLUMNS
from workprof.service.jobs import LONGEST_TEXT, most_of
from workprof.service.observations import LONGEST_ID
from workprof.service.state import LONGEST_NAME

MOST_JOBS = 10_000
"""Jobs, or finished runs, of one request."""
BY = ("task", "profile", "user", "group")
"""Accepted for a release: sizes go by the finest key that is known."""

_TEXT = [{"type": "string", "maxLength": LONGEST_TEXT}, {"type": "number"}, {"type": "null"}]
_DIGITS = {"type": "string", "maxLength": 60, "description": "Its digits, with a unit where the trace has one: 64G."}
AnyValue: TypeAlias = Annotated[JsonValue, WithJsonSchema({"description": "Any value."})]
Dataset: TypeAlias = Annotated[
    str, Field(max_length=LONGEST_NAME, description="Name, or 8 characters of the hash; '' = the usual one.")
]


def _value(name: str, words: str) -> Any:
    """A field of a job: read by the names and units of the trace, so anything is let through here."""
    most = most_of(IN_GB[name]) / GB if name in IN_GB else most_of(name)
    number = [{"type": "number", "minimum": 0, "maximum": most}, _DIGITS, {"type": "null"}]
    number += [{"type": "boolean"}] if name in TRUTH_FIELDS else []
    schema = {"anyOf": _TEXT if name in TEXT_FIELDS else number, "description": words}
    return (Annotated[Any, WithJsonSchema(schema)], Field(default=None, json_schema_extra=_no_default))


def _no_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


class Open(BaseModel):
    """An object that may hold further names."""

    model_config = ConfigDict(extra="allow")


def _job(name: str, words: str, further: tuple[str, ...]) -> type[Open]:
    fields = {one: _value(one, DESCRIPTIONS[one]) for one in (*SUBMIT_FIELDS, *further, "submit_time_s")}
    fields["requested_memory_gb"] = _value("requested_memory_gb", "The same in GB (1e9 bytes).")
    return create_model(name, __base__=Open, __doc__=words, **fields)


Job = _job("Job", "A job before it runs: the fields of a job table, or the trace's own columns.", ())
SizedJob = _job("SizedJob", "A job before it runs, with what else its size may go by.", KEY_COLUMNS)


def _body(name: str, one: type[Open], several: str, item: type[Open], **more: Any) -> type[Open]:
    def told(schema: dict[str, Any]) -> None:
        schema.pop("default", None)
        schema["items"] = {"$ref": f"#/components/schemas/{item.__name__}"}

    listed = Field(default=None, min_length=1, max_length=MOST_JOBS, json_schema_extra=told)
    fields = {several: (list[Any], listed), "dataset": (Dataset, ""), **more}
    words = f"One alone, its fields in this object, or many in `{several}`."
    return create_model(name, __base__=one, __doc__=words, **fields)


RunFields = create_model(
    "RunFields",
    __base__=Open,
    __doc__="A finished run: its id, and fields of a job table.",
    **{name: _value(name, DESCRIPTIONS[name]) for name in DESCRIPTIONS if name != "windows"},
)
RunId: TypeAlias = Annotated[str | int, Field(description=f"An id of its own, at most {LONGEST_ID} characters.")]
RunWithId = create_model("RunWithId", __base__=RunFields, __doc__=RunFields.__doc__, run=(RunId, ...))
PredictBody = _body(
    "PredictBody", Job, "jobs", Job, explain=(StrictBool, Field(False, description="With reasons (SHAP)."))
)
SizeBody = _body("SizeBody", SizedJob, "jobs", SizedJob, by=(Literal[BY], Field(BY[0], deprecated=True)))
ObserveBody = _body(
    "ObserveBody", RunFields, "runs", RunWithId, run=(RunId, Field(default=None, json_schema_extra=_no_default))
)


class Learned(BaseModel):
    """What an answer rests on: which saved result of which dataset, when it was computed and of how many runs."""

    version: str
    trained: str
    dataset: str
    rows: int


class ProfileProbability(BaseModel):
    """A profile and how likely it is."""

    profile: int
    probability: float


class Need(BaseModel):
    """A quantity of a job: the best guess, quantiles, the ends of the interval, and how far these hold."""

    point: float | None
    p10: float | None
    p50: float | None
    p90: float | None
    low: float | None
    high: float | None
    predictor: str
    covers: float | None
    calibrated: bool
    bounded: bool


class Reasons(BaseModel):
    """How much each field adds to the log-odds of the profile, calibrated and against all others (SHAP)."""

    profile: int
    fields: dict[str, float]
    base: float
    output: float
    additivity_error: float
    words: list[str]


class Prediction(BaseModel):
    """What a job will be and need; `shap` with "explain": true."""

    profile: int
    name: str | None
    probability: float | None
    most_likely: ProfileProbability
    top: list[ProfileProbability]
    abstained: bool
    reason: str | None
    estimates: dict[str, Need]
    shap: Reasons | None


class OnePrediction(Prediction):
    """The same of a request about one job."""

    model: Learned


class Predictions(BaseModel):
    """What each job will be and need, in their order."""

    dataset: str
    model: Learned
    predictions: list[Prediction]


class Decision(BaseModel):
    """What a person decided about a row."""

    state: str
    note: str
    by: str
    at: str
    action: str
    unit: str
    request: float
    size: float
    saved: float


class Size(BaseModel):
    """What to request for a job, and what that risks."""

    action: Literal["lower", "keep", "raise"]
    by: list[str] | None
    key: dict[str, str] | None
    size_gb: float | None
    next_gb: list[float]
    then: str | None
    requested_gb: float | None
    source: Literal["advice", "request", "usual request", "none"]
    why: str
    decision: Decision | None
    kills_per_1000: list[float] | None
    kill_interval: list[float] | None
    runs: int


class OneSize(Size):
    """The same of a request about one job."""

    model: Learned


class SizeList(BaseModel):
    """What to request for each job, in their order."""

    dataset: str
    model: Learned
    reason: str
    sizes: list[Size]


class Receipt(BaseModel):
    """What became of finished runs; `different` are known ids that came with another content.

    `not_finished` counts those of the request whose status says so, by cause; they are kept and not compared.
    """

    accepted: int
    repeated: int
    different: list[str]
    total: int
    not_finished: dict[str, int]
    drift: dict[str, AnyValue] | None


class Observed(BaseModel):
    """How many finished runs are kept, and what the feedback loop found in them."""

    total: int
    waiting_bytes: int
    drift: dict[str, AnyValue] | None


class Listed(BaseModel):
    """A question that can be asked."""

    name: str
    title: str
    command: str
    settings: list[str]


class Status(BaseModel):
    """How the service stands."""

    status: Literal["ok", "ready"]


class FieldError(BaseModel):
    """A field that cannot be used."""

    field: str
    value: AnyValue
    allowed: list[str | bool] | str
    job: int | None = None


class Problem(BaseModel):
    """Why there is no answer (RFC 9457); `errors` holds the first 20 fields that cannot be used."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldError] | None = None


EXAMPLE_JOB: Mapping[str, JsonValue] = {
    "user": "ana",
    "group": "vision",
    "task_name": "worker",
    "requested_memory_gb": 32,
    "instances": 4,
}
EXAMPLE_RUN: Mapping[str, JsonValue] = {
    "run": "4711.0",
    "task_name": "worker",
    "user": "ana",
    "end_time_s": 1.7e9,
    "duration_s": 840,
    "peak_memory_bytes": 9.1e9,
}
