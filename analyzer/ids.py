"""Ids of rows as users type them: a unique beginning is enough."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import WrongUsage


def only_id(id: str, found: Sequence[str], what: str) -> str:
    """The one id that begins so; an exact match wins over longer ones.

    what: the command that lists the ids. Raises WrongUsage when none or several match, naming them.
    """
    if id in found:
        return id
    matching = sorted(each for each in found if each.startswith(id))
    if len(matching) == 1:
        return matching[0]
    if not matching:
        raise WrongUsage(f"no row of {what} has the id {id}", f"`{what}` lists the ids of this selection")
    shown = ", ".join(matching[:5]) + (", …" if len(matching) > 5 else "")
    raise WrongUsage(f"{id} is the beginning of {len(matching)} ids", f"give more of it: {shown}")
