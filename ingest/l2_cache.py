"""l2_cache.csv: its tasks -> the kinds of kernel that they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

# A task number counts on its stream and starts over, so the name must agree as well.
_MATCH = """
UPDATE l2_cache SET signature_id = k.signature_id
FROM (
    SELECT stream_id, task_id, name, any_value(signature_id) AS signature_id
    FROM kernels WHERE rank_id = $rank AND kernel_class = 'aicore'
    GROUP BY stream_id, task_id, name HAVING count(DISTINCT signature_id) = 1
) AS k
WHERE l2_cache.rank_id = $rank AND l2_cache.stream_id = k.stream_id AND l2_cache.task_id = k.task_id
    AND l2_cache.name = k.name
"""


def match_l2_cache(con: duckdb.DuckDBPyConnection, rank_id: int) -> list[str]:
    """Give the rows of one rank their signatures; what cannot be used is said."""
    con.execute(_MATCH, {"rank": rank_id})
    rows, rates, used = con.execute(
        "SELECT count(*), count(hit_rate), count(hit_rate) FILTER (signature_id IS NOT NULL) "
        "FROM l2_cache WHERE rank_id = ?",
        [rank_id],
    ).fetchall()[0]
    if rows and not rates:
        return [f"l2_cache.csv holds no hit rate: it is N/A in all of its {rows:,} rows"]
    if used < rates:
        return [f"{rates - used:,} of {rates:,} hit rates of l2_cache.csv are of no kernel here; not used"]
    return []
