"""The declarations agree with themselves, with the fields, and with the real header files."""

import pytest

from tests.shared_data import FOLDER, needs_shared_data
from workprof.core.errors import SettingsError
from workprof.core.units import FACTORS, factor
from workprof.formats import (
    FORMATS,
    MEASUREMENTS,
    NAMES,
    TABLES,
    declared,
    generic,
    pai_sample,
    pai_tables,
    plain_rules_of,
)
from workprof.formats.declare import TEXT
from workprof.formats.fields import BOUNDS, DESCRIPTIONS, FIELDS, REQUESTS, TEXT_FIELDS, USAGE_FIELDS

ALL = [*FORMATS.values(), pai_tables.CORRECTED, pai_tables.FAITHFUL]


@pytest.mark.parametrize("form", ALL, ids=lambda form: form.title)
def test_rules_name_fields_and_units_that_are_known(form):
    names = {column.name for column in form.columns}
    for rule in form.rules:
        assert rule.field in FIELDS
        assert not rule.unit or rule.unit in FACTORS
        assert not names or rule.source in names
        if rule.field in TEXT_FIELDS:
            assert not rule.unit
    assert len({rule.field for rule in form.rules}) == len(form.rules)
    assert set(form.zero_is_missing) <= FIELDS.keys()
    assert {field for _, field in form.aliases} <= FIELDS.keys()
    assert all(status == status.lower() for status in form.finished)
    assert set(form.required) | set(form.signature) <= (names or set(form.required) | set(form.signature))


def test_units_say_what_the_field_names_say():
    for name, field in FIELDS.items():
        suffix = {"s": "_s", "B": "_bytes", "percent": "_percent"}.get(field.unit, "")
        assert name.endswith(suffix)
    assert factor("GiB") == 1024**3
    assert set(BOUNDS) == {name for name, field in FIELDS.items() if field.type != TEXT}
    assert all(request in FIELDS and usage in FIELDS for usage, request in REQUESTS)


def test_the_registry_names_every_format_and_refuses_others():
    assert set(NAMES) == {*FORMATS, TABLES, *MEASUREMENTS}
    assert all(name == form.name for name, form in FORMATS.items())
    assert declared("pai-sample") is pai_sample.FORMAT
    with pytest.raises(SettingsError, match=", ".join(NAMES)):
        declared("excel")


def test_the_pai_sample_is_recognised_by_what_it_needs():
    form = pai_sample.FORMAT
    assert form.signature == form.required
    assert {rule.field for rule in form.rules if rule.source in form.required} >= {
        "job_name", "start_time_s", "end_time_s", "requested_cpu_percent", "cpu_usage_percent"
    }  # fmt: skip


def test_every_field_has_a_description():
    assert DESCRIPTIONS.keys() == FIELDS.keys()
    assert all(text.endswith(".") for text in DESCRIPTIONS.values())


def test_synonyms_belong_to_one_field_each():
    seen: dict[str, str] = {}
    for field, names in generic.SYNONYMS.items():
        assert field in FIELDS
        for name in names:
            assert seen.setdefault(name, field) == field or name in generic.OF_TWO


@needs_shared_data
@pytest.mark.parametrize("table", pai_tables.TABLES)
def test_raw_tables_have_the_columns_of_the_header_files(table):
    header = (FOLDER / "pai" / "headers" / f"{table}.header").read_text().strip().split(",")
    assert [column.name for column in pai_tables.TABLES[table]] == header


@needs_shared_data
def test_the_sample_declares_all_of_its_33_columns():
    header = (FOLDER / "pai" / "pai_sample_dev.csv").read_text().split("\n", 1)[0].strip().split(",")
    assert len(header) == 33
    assert {column.name for column in pai_sample.FORMAT.columns} == set(header)


def test_rules_are_plain_where_the_field_is_the_column_in_another_unit():
    plain = {rule.field: rule.source for rule in plain_rules_of("pai-sample")}
    assert plain["peak_memory_bytes"] == "max_mem"
    assert "start_time_s" not in plain  # 0 is no time there
    for name in ("alibaba-instances-named", "azure-named"):  # shares of a machine, and cores times their use
        assert not {rule.field for rule in plain_rules_of(name)} & set(USAGE_FIELDS)
    for name in ("borg", "borg-events", "slurm", "philly", "no format"):  # rows are folded, or read by a reader
        assert plain_rules_of(name) == ()
