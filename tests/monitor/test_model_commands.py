"""What somebody who trains or measures the model sees."""

from __future__ import annotations

import asyncio
import json
import math
import sys

import pytest

from detectors.evaluation.dialogues import Detection
from detectors.evaluation.evaluate import Evaluation
from detectors.evaluation.metrics import Measured, Share, measure, pairs_right, share
from detectors.evaluation.rows import Judged, Row
from detectors.finding import Level, UserSignal
from detectors.training.example import Said
from detectors.turn import Role
from monitor import model_commands
from monitor.data_files import check_files
from monitor.errors import JiezhuError
from monitor.settings import Encoder

NOTHING = Share(math.nan, math.nan, math.nan, 0)


def judged(level: Level, found: Level, score: float, family: str) -> Judged:
    row = Row((Said(Role.USER, "x"),), "zh", level.crisis, ("own",), level, 2, family)
    return Judged(row, UserSignal(found, score, 0.5))


@pytest.fixture(scope="module")
def measured() -> Measured:
    return measure(ROWS)


ROWS = [
    one
    for n in range(6)
    for one in (
        judged(Level.SELF_HARM, Level.SELF_HARM if n else Level.NONE, 0.9 if n else 0.2, f"f{n}"),
        judged(Level.NONE, Level.NONE, 0.1, f"f{n}"),
    )
]


def evaluation(measured: Measured, *names: str, dialogues: dict[str, Detection] | None = None) -> Evaluation:
    return Evaluation(dict.fromkeys(names, measured), {"own": pairs_right(ROWS)}, dialogues or {}, {})


async def jiezhu(*words: str) -> tuple[int | None, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        f"import sys; from monitor import cli; sys.argv = {['jiezhu', *words]!r}; cli.main()",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, told = await asyncio.wait_for(process.communicate(), 120)
    return process.returncode, out.decode(), told.decode()


@pytest.mark.parametrize("command", ["train", "evaluate"])
async def test_a_missing_data_file_is_one_clear_line(tmp_path, command):
    status, out, told = await jiezhu(command, "--data", str(tmp_path / "rows.jsonl"))
    assert (status, out) == (1, "")
    assert told == "jiezhu: the data file rows.jsonl is not there: give JSONL files with --data\n"


@pytest.mark.parametrize(
    "line", ["no json", "[]", '{"id": "a", "text": "t"}', '{"id": "a", "lang": "en"}', ""]
)
def test_a_line_nobody_could_learn_from_is_named_and_not_quoted(tmp_path, line):
    good = json.dumps({"id": "a", "lang": "en", "text": "words of somebody"})
    file = tmp_path / "rows.jsonl"
    file.write_text(f"{good}\n{line}\n{good}\n", encoding="utf-8")
    with pytest.raises(JiezhuError, match="line 2 of the data file rows") as told:
        check_files([file])
    assert "words" not in str(told.value)


def test_good_files_pass(tmp_path):
    file = tmp_path / "rows.jsonl"
    rows = [{"id": "a", "lang": "en", "text": "t\u2028u"}, {"id": "b", "lang": "zh", "turns": []}]
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    check_files([file])


def test_a_directory_without_a_model_is_said_so(tmp_path):
    with pytest.raises(JiezhuError, match=r"no calibration\.toml in the directory"):
        model_commands.measure(Encoder(), [], tmp_path, lambda *_: None, every=False, keywords=False)


def test_the_table_holds_each_set_and_its_figures_whole(measured, capsys):
    model_commands.print_evaluation(evaluation(measured, "own", "own/zh"), {}, slices=False)
    out = capsys.readouterr().out
    (row,) = [line for line in out.splitlines() if "own " in line and "│" in line]
    cells = [cell.strip() for cell in row.strip("│").split("│")]
    assert cells[:4] == ["own", "12", "0.833 (0.436–0.970)", "0.000 (0.000–0.390)"]
    assert "…" not in out
    assert "own/zh" not in out
    assert "own: both members of a minimal pair right 0.833" in out


def test_slices_only_when_asked_for(measured, capsys):
    model_commands.print_evaluation(evaluation(measured, "own", "own/zh"), {}, slices=True)
    assert "own/zh" in capsys.readouterr().out


def test_others_stand_below_each_set(measured, capsys):
    one = evaluation(measured, "own", "zh_psysuicide")
    model_commands.print_evaluation(one, {"keyword list": evaluation(measured, "own")}, slices=False)
    lines = [
        line.split("│")[1].strip() for line in capsys.readouterr().out.splitlines() if line.startswith("│")
    ]
    assert lines[:3] == ["own", "keyword list", "zh_psysuicide"]
    assert len(lines) > 3  # what has been published of it
    assert "keyword list" not in lines[3:]


def test_dialogues_have_a_line_each(measured, capsys):
    found = Detection(share(9, 10), share(3, 4), 1.5, share(0, 5), NOTHING)
    model_commands.print_evaluation(evaluation(measured, "own", dialogues={"talk": found}), {}, slices=False)
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("talk")]
    assert "found 0.900" in line
    assert "reader 0.750 (0.301–0.954), on average 1.5 user turns later" in line
    assert "let pass flagged none there" in line


def test_no_figure_reads_nan(measured, capsys):
    never = Detection(NOTHING, NOTHING, math.nan, NOTHING, NOTHING)
    model_commands.print_evaluation(evaluation(measured, "own", dialogues={"talk": never}), {}, slices=False)
    assert "nan" not in capsys.readouterr().out


def test_off_a_terminal_progress_is_a_line_a_tenth_on_standard_error(capsys):
    with model_commands.Watching() as report:
        for done in range(1, 1001):
            report("train", done, 1000, {"crisis": 0.25, "unknown": 1.0})
        report("calibrate", 0, 4, {})
        report("calibrate", 4, 4, {})
    out, told = capsys.readouterr()
    lines = told.splitlines()
    assert out == ""
    assert lines[0].startswith("train: 1 of 1000")
    assert lines[-3:] == ["train: 1000 of 1000 crisis 0.250", "calibrate: 0 of 4", "calibrate: 4 of 4"]
    assert len(lines) == 13
    assert "unknown" not in told
    assert "\x1b" not in told


def test_a_stage_of_unknown_length_is_no_error(capsys):
    with model_commands.Watching() as report:
        report("download", 5, 0, {})
    assert capsys.readouterr().err == "download: 5 of 0\n"


def test_what_falls_short_is_named(measured):
    told = model_commands.fallen_short(evaluation(measured, "own"))
    assert "hidden was not measured" in told
