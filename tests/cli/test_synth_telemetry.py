"""`workprof synth telemetry`: a file that `ingest` knows, its truth beside it."""

import json

import pytest

from workprof.cli.main import main


def test_planted_recordings_are_a_dataset(workprof, tmp_path, capsys):
    path = tmp_path / "planted.csv"
    arguments = ("-o", path, "--workloads", 3, "--runs", 2, "--seconds", 20, "--seed", 4, "--json")
    main_answers(["synth", "telemetry", *map(str, arguments)], 0)
    told = json.loads(capsys.readouterr().out)
    assert (told["file"], told["rows"]) == (str(path), 120)
    assert len(json.loads((tmp_path / "planted.truth.json").read_text())) == 6
    loaded = workprof("ingest", path, "--name", "planted", "--json").json
    assert (loaded["kind"], loaded["format"], loaded["rows"], loaded["rejected"]) == ("telemetry", "telemetry", 120, 0)


@pytest.mark.parametrize("arguments", [["-o", "planted.txt"], ["-o", "p.csv", "--workloads", "1"]])
def test_what_is_refused(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    main_answers(["synth", "telemetry", *arguments], 2)
    assert list(tmp_path.iterdir()) == []


def main_answers(arguments, status):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert (ended.value.code or 0) == status
