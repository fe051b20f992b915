"""Option groups: a command names the group it needs, and gets every option of it as one value.

A group is a frozen dataclass whose fields are typer options. `spread` replaces such a parameter of a
command by the fields of the group, so that each shared option is declared once, with one help text, in
`cli/options.py`.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Give typer a flat signature for a command whose parameters may be option groups.

    Parameters of a command are keyword-only, so that they can stand in the order in which --help lists
    them. It is called with the groups built again from the flat values.
    """
    groups: dict[str, type] = {}
    flat: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        kind = parameter.annotation
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            groups[parameter.name] = kind
            flat += _fields_as_parameters(kind)
        else:
            flat.append(parameter)

    @functools.wraps(command)
    def flat_command(**values: Any) -> None:
        gathered = {name: _take(group, values) for name, group in groups.items()}
        command(**values, **gathered)

    flat_command.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    return flat_command


def _fields_as_parameters(group: type) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in dataclasses.fields(group)
    ]


def _take(group: type, values: dict[str, Any]) -> Any:
    """Move the group's fields out of the flat values into one group."""
    return group(**{field.name: values.pop(field.name) for field in dataclasses.fields(group)})
