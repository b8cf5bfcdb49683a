"""sadf -d: blocks with headers of their own, items, restarts, names that differ, times, and the flat CSV form."""

import numpy as np
import pytest

from tests.formats.telemetry_files import checks, imported
from workprof.core.errors import TraceError
from workprof.formats.telemetry import sniffed

BLOCKS = """
    # hostname;interval;timestamp;CPU;%user;%nice;%system;%idle
    vm;1;2026-11-21 02:21:23 UTC;-1;49.50;49.00;1.00;0.50
    vm;1;2026-11-21 02:21:23 UTC;0;1;1;1;1
    vm;1;2026-11-21 02:21:24 UTC;-1;50.50;48.00;1.00;0.50
    # hostname;interval;timestamp;IFACE;rxpck/s;%ifutil
    vm;1;2026-11-21 02:21:23 UTC;lo;5.00;0.00
    vm;1;2026-11-21 02:21:23 UTC;eth0;7.00;0.00
    vm;1;2026-11-21 02:21:24 UTC;lo;6.00;
    # hostname;interval;timestamp;proc/s;cswch/s
    vm;1;2026-11-21 02:21:23 UTC;1.00;200
    vm;1;2026-11-21 02:21:24 UTC;2.00;300
    """


def test_blocks_meet_on_their_times(tmp_path):
    found = imported(tmp_path, "sar.txt", BLOCKS)
    assert found.frame["t"].tolist() == [1, 2]
    assert found.frame["run"].tolist() == ["sar", "sar"]
    assert found.frame["cpu.%user"].tolist() == [49.5, 50.5]
    assert found.frame["iface.lo.rxpck/s"].tolist() == [5, 6]
    assert found.frame["iface.eth0.rxpck/s"].iloc[0] == 7
    assert np.isnan(found.frame["iface.eth0.rxpck/s"].iloc[1])
    assert found.frame["cswch/s"].tolist() == [200, 300]
    assert checks(found)["single_items"] == 1
    assert (found.rows_read, found.rejected) == (2, ())


def test_a_line_that_repeats_a_counter_of_a_time_and_a_comment_are_counted(tmp_path):
    text = (
        BLOCKS.rstrip(" ") + "    vm;1;2026-11-21 02:21:24 UTC;3.00;400\n    vm;1;2026-11-21 02:21:24 UTC;COM a word\n"
    )
    found = imported(tmp_path, "sar.txt", text)
    assert found.frame["cswch/s"].tolist() == [200, 400]
    assert (checks(found)["repeated_lines"], checks(found)["comments"]) == (1, 1)
    assert "repeated_lines" not in checks(imported(tmp_path, "sar.txt", BLOCKS))


def test_both_names_of_the_shares_are_one(tmp_path):
    text = "# hostname;interval;timestamp;CPU;%usr;%sys;%irq\nvm;1;2026-11-21 02:21:23 UTC;-1;49.50;1.00;2.00\n"
    found = imported(tmp_path, "sar.txt", text)
    assert list(found.frame.columns[4:]) == ["cpu.%user", "cpu.%system", "cpu.%irq"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2026-11-21 02:21:23 UTC", "2026-11-21 02:21:25 UTC"),
        ("2026-11-21 02:21:23", "2026-11-21 02:21:25"),
        ("1764174327", "1764174329"),
    ],
    ids=["UTC", "local (-T, -t)", "epoch (-U)"],
)
def test_times_of_every_kind(tmp_path, first, second):
    text = f"# hostname;interval;timestamp;proc/s\nvm;2;{first};1\nvm;2;{second};2\n"
    assert imported(tmp_path, "sar.txt", text).frame["t"].tolist() == [2, 4]


def test_a_restart_starts_another_run(tmp_path):
    text = """
        # hostname;interval;timestamp;proc/s
        vm;1;2026-11-21 02:00:01 UTC;1
        vm;-1;2026-11-21 03:00:00 UTC;LINUX-RESTART (2 CPU)
        vm;-1;2026-11-21 03:00:00 UTC;COM said something
        vm;600;2026-11-21 03:10:00 UTC;2
        # hostname;interval;timestamp;cswch/s
        vm;1;2026-11-21 02:00:01 UTC;10
        vm;-1;2026-11-21 03:00:00 UTC;LINUX-RESTART (2 CPU)
        vm;600;2026-11-21 03:10:00 UTC;20
        """
    found = imported(tmp_path, "sar.txt", text)
    assert found.frame["run"].tolist() == ["sar", "sar-2"]
    assert found.frame["t"].tolist() == [1, 600]
    assert found.frame["cswch/s"].tolist() == [10, 20]
    assert checks(found)["restarts"] == 1


def test_hosts_are_runs(tmp_path):
    text = "# hostname;interval;timestamp;proc/s\na;1;1764174327;1\nb;1;1764174327;2\n"
    assert imported(tmp_path, "sar.txt", text).frame["run"].tolist() == ["a", "b"]


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_decimal_commas_are_read_with_any_separator(tmp_path, separator):
    text = "# hostname;interval;timestamp;CPU;%user\nvm;1;2026-11-21 02:21:23 UTC;-1;49,50\n".replace(";", separator)
    assert imported(tmp_path, "sar.txt", text).frame["cpu.%user"].tolist() == [49.5]


def test_one_line_per_time_is_refused(tmp_path):
    with pytest.raises(TraceError, match="written with -h"):
        imported(
            tmp_path, "sar.txt", "# hostname;interval;timestamp;CPU;%user;[...];proc/s\nvm;1;1764174327;-1;1;2;3\n"
        )


def test_broken_lines_are_set_aside(tmp_path):
    found = imported(
        tmp_path, "sar.txt", f"{BLOCKS}\n    vm;1;2026-11-21 02:21:25 UTC\n    vm;1;2026-11-21 02:21:25 UTC;a;b\n"
    )
    assert [one.line for one in found.rejected] == [13, 14]


def test_the_flat_form(tmp_path):
    text = """
        timestamp,cpu.%usr,cpu.%sys,disk.tps
        2016-10-22 22:01:11,10,5,100
        2016-10-22 22:01:16,20,5,100
        2016-10-22 22:01:27,20,5,
        """
    found = imported(tmp_path, "sar_node1.csv", text)
    assert sniffed("timestamp,cpu.%usr,disk.tps\n") == "sadf"
    assert found.frame["t"].tolist() == [5, 10, 21]
    assert found.frame["cpu.%usr"].tolist() == [10, 20, 20]


PER_CPU = """
    # hostname;interval;timestamp;INTR;CPU*
    vm;1;2026-11-30 17:41:32 UTC;sum;1489.11;904.95;584.16
    vm;1;2026-11-30 17:41:32 UTC;24;0.00;0.00;0.00
    vm;1;2026-11-30 17:41:33 UTC;sum;1208.00;700.00;508.00
    """
"""As sysstat 12.6 writes `sadf -d FILE -- -A`."""


def test_interrupts_in_a_column_for_each_processor_are_read_as_their_sum(tmp_path):
    found = imported(tmp_path, "sar.txt", PER_CPU)
    assert found.frame["intr.intr/s"].tolist() == [1489.11, 1208]
    assert (found.rejected, checks(found)["single_items"]) == ((), 1)
    plain = PER_CPU.replace(";904.95;584.16", "").replace(";0.00;0.00;0.00", ";0.00").replace(";700.00;508.00", "")
    assert imported(tmp_path, "sar.txt", plain).frame["intr.intr/s"].tolist() == [1489.11, 1208]
    some = BLOCKS.rstrip(" ") + PER_CPU.replace(";1489.11", "").replace(";1208.00", "").lstrip("\n")
    found = imported(tmp_path, "sar.txt", some)
    assert not [name for name in found.frame if name.startswith("intr.")]
    assert checks(found)["without_sum"] == 3


def test_lines_of_single_processors_without_their_sum_are_refused(tmp_path):
    """They became rows without a counter, and the check said that their sum was taken."""
    text = "# hostname;interval;timestamp;CPU;%user\nvm;1;1764174327;0;12\nvm;1;1764174327;1;14\n"
    with pytest.raises(TraceError, match="single processors or interrupts alone"):
        imported(tmp_path, "sar.txt", text)
    found = imported(tmp_path, "sar.txt", f"{text}# hostname;interval;timestamp;proc/s\nvm;1;1764174327;5\n")
    assert checks(found)["without_sum"] == 2
    assert "single_items" not in checks(found)


def test_sensors_have_a_name_and_what_hangs_on_usb_is_no_counter(tmp_path):
    text = """
        # hostname;interval;timestamp;TEMP;DEVICE;degC;%temp
        vm;1;1764174327;1;coretemp-isa-0000;55.00;50.00
        vm;1;1764174327;2;coretemp-isa-0001;57.00;51.00
        # hostname;interval;timestamp;BAT;%cap;cap/min;status
        vm;1;1764174327;0;90.00;-0.10;Discharging
        # hostname;interval;timestamp;BUS;idvendor;idprod;maxpower;manufact;product
        vm;1;1764174327;2;46d;c077;100;Logitech;USB Mouse
        """
    found = imported(tmp_path, "sar.txt", text)
    assert found.rejected == ()
    assert found.frame.iloc[0, 4:].to_dict() == {
        "temp.1.degC": 55,
        "temp.1.%temp": 50,
        "temp.2.degC": 57,
        "temp.2.%temp": 51,
        "bat.0.%cap": 90,
        "bat.0.cap/min": -0.1,
    }


def test_counters_of_nfs_are_told_from_those_of_tcp(tmp_path):
    """`sadf -d FILE -- -A` has `retrans/s` of both; that of TCP was lost."""
    text = """
        # hostname;interval;timestamp;call/s;retrans/s
        vm;1;1764174327;3.00;1.00
        # hostname;interval;timestamp;atmptf/s;estres/s;retrans/s
        vm;1;1764174327;0.00;0.00;7.00
        """
    found = imported(tmp_path, "sar.txt", text)
    assert (found.frame["retrans/s"].iloc[0], found.frame["nfs.retrans/s"].iloc[0]) == (7, 1)
    assert "repeated_lines" not in checks(found)
