"""query: one reading statement over the database, the selection and the labels, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from npu_roofline.analyzer.query import query
from npu_roofline.errors import WrongUsage

from tests.analyzer.tiny_run import Kernel, session_of


def test_rows_come_by_column_name() -> None:
    """A SELECT over the selection gives mappings in the order of the query."""
    session = session_of([Kernel(0, 10), Kernel(20, 5, type="Mul")])
    answer = query(
        session,
        "SELECT type, duration_us FROM selected_kernels JOIN signatures USING (signature_id)"
        " ORDER BY duration_us",
    )
    assert answer.rows == ({"type": "Mul", "duration_us": 5.0}, {"type": "Add", "duration_us": 10.0})


def test_labels_can_be_joined() -> None:
    """The labels of the selection are a table of their own, one row per signature."""
    session = session_of([Kernel(0, 10), Kernel(20, 10), Kernel(40, 5, type="Mul")])
    assert query(session, "SELECT count(*) AS n FROM labels").rows == ({"n": 2},)


def _with_another_run():
    """A session over run 1, beside which the database holds run 2 with a kernel of its own."""
    session = session_of([Kernel(0, 10)])
    for table in ("runs", "kernels"):
        session.con.execute(f"INSERT INTO {table} SELECT * REPLACE (2 AS run_id) FROM {table}")
    return session


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(duration_us) AS us FROM kernels",
        "SELECT sum(duration_us) AS us FROM kernels JOIN runs USING (run_id)",
    ],
)
def test_a_sum_over_all_runs_says_so(sql: str) -> None:
    """10 us in each of two runs are 20 us, under the name of one run: the note says so, and the way out."""
    answer = query(_with_another_run(), sql)
    assert answer.rows == ({"us": 20.0},)
    assert answer.notes == (
        "kernels: all 2 runs of the database are read, as --run selects in selected_kernels, "
        "selected_signatures and labels only; for tiny alone: run_id = 1",
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(duration_us) AS us FROM selected_kernels",
        "SELECT sum(duration_us) AS us FROM kernels WHERE run_id = 1",
    ],
)
def test_a_sum_over_one_run_needs_no_note(sql: str) -> None:
    """The selection, or a run_id in the text, tells the runs apart: 10 us; what a table is has no runs."""
    answer = query(_with_another_run(), sql)
    assert (answer.rows, answer.notes) == (({"us": 10.0},), ())
    assert query(_with_another_run(), "DESCRIBE kernels").notes == ()


@pytest.mark.parametrize(
    "sql",
    [
        "FROM runs",
        "WITH a AS (SELECT 1) FROM a",
        "DESCRIBE kernels",
        "SHOW TABLES",
        "EXPLAIN SELECT 1",
        "VALUES (1)",
    ],
)
def test_reading_statements_are_allowed(sql: str) -> None:
    """Every way to read is allowed."""
    assert query(session_of([Kernel(0, 10)]), sql).rows


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM kernels",
        "CREATE TABLE x (a INTEGER)",
        "DROP TABLE kernels",
        "INSERT INTO labels SELECT * FROM labels",
        "COPY kernels TO 'out.csv'",
        "ATTACH 'other.duckdb'",
        "SET threads = 1",
        "INSTALL httpfs",
        "PRAGMA database_list",
        "SELECT 1; SELECT 2",
        "",
        "-- nothing",
        "SELECT FROM",
        "SELECT nothing FROM kernels",
    ],
)
def test_everything_else_is_refused_with_a_hint(sql: str) -> None:
    """Writing, configuring, several statements, none, and wrong SQL are wrong usage, and say what to do."""
    with pytest.raises(WrongUsage) as caught:
        query(session_of([Kernel(0, 10)]), sql)
    assert caught.value.hint


@pytest.mark.parametrize("function", ["read_csv('{}')", "read_text('{}')", "read_blob('{}')", "glob('{}')"])
def test_no_file_can_be_read(tmp_path: Path, function: str) -> None:
    """A query reads the database and no file of the machine, by any function."""
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(WrongUsage) as caught:
        query(session_of([Kernel(0, 10)]), f"SELECT * FROM {function.format(secret)}")
    assert "ingest the file first" in caught.value.hint


def test_no_variable_of_the_program_can_be_read() -> None:
    """A table name never falls back to a Python object of the process."""
    session = session_of([Kernel(0, 10)])
    with pytest.raises(WrongUsage):
        query(session, "SELECT * FROM session")


def test_columns_of_one_name_are_told_apart() -> None:
    """SELECT 1 AS a, 2 AS a loses neither value."""
    assert query(session_of([Kernel(0, 10)]), "SELECT 1 AS a, 2 AS a").rows == ({"a": 1, "a_2": 2},)


def test_an_empty_result_says_so() -> None:
    """No rows is an answer, with a note instead of silence."""
    answer = query(session_of([Kernel(0, 10)]), "SELECT * FROM kernels WHERE duration_us > 1e6")
    assert answer.rows == ()
    assert answer.notes == ("the query gives no rows",)
