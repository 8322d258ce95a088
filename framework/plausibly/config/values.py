"""Values of a study file that no class describes: alphas as typed, options beside a reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, cast

from plausibly import registry
from plausibly.config.creation import component
from plausibly.config.study import AnnotationFile
from plausibly.errors import InputError
from plausibly.protocols import READER, Reader
from plausibly.registry.convert import Strict, below, expected
from plausibly.registry.mistakes import Mistake, Mistakes, Wrong, unknown_key
from plausibly.registry.parameters import parameters_of

_RATE = "a number between 0 and 1"
_OF_READER = ("reader", "options")


def read_alphas(value: object) -> tuple[Decimal, ...]:
    """Return miscoverage rates exactly as typed.

    Raises
    ------
    Wrong, Mistakes
        Text is no number, and 5 is no miscoverage rate: what was meant is said.
    """
    if not isinstance(value, list | tuple):
        instead = _unquoted(value)
        raise Wrong(f"a list, each {_RATE}", value, None if instead is None else [instead])
    if not value:
        raise Mistakes([Mistake("", "expected one number or more, got none", value="[0.1]")])
    found: list[Mistake] = []
    alphas: list[Decimal] = []
    for number, item in enumerate(value):
        with below(number, found):
            alpha = _alpha(item)
            if alpha in alphas:
                raise Mistakes([Mistake("", f"{alpha} is there already", advice="leave it out")])
            alphas.append(alpha)
    if found:
        raise Mistakes(found)
    return tuple(alphas)


def _alpha(value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise Wrong(_RATE, value, _unquoted(value))
    alpha = Decimal(str(value))
    if alpha.is_finite() and 0 < alpha < 1:
        return alpha
    advice = ""
    if alpha.is_finite() and 1 < alpha < 100:
        # From 50 on it is more likely the share that is covered than the share that is missed.
        missed = alpha if alpha < 50 else 100 - alpha
        advice = f"{(100 - missed).normalize():f} % is {(missed / 100).normalize():f}"
    text = f"expected {_RATE}, got {value}"
    raise Mistakes([Mistake("", text, advice=advice, expected=_RATE, got=str(value))])


def _unquoted(value: object) -> object:
    try:
        alpha = Decimal(str(value).strip())
    except ArithmeticError:
        return None
    return alpha if alpha.is_finite() and 0 < alpha < 1 else None


def read_annotations(strict: Strict, value: object) -> AnnotationFile:
    """Return where annotations are, with their reader, whose parameters stand beside its name.

    Parameters
    ----------
    strict : Strict
        Of the study file.
    value : object
        The table ``[annotations]``.

    Raises
    ------
    Wrong, Mistakes
    """
    if not isinstance(value, Mapping):
        raise Wrong(expected(AnnotationFile), value)
    own = {p.name: p for p in parameters_of(AnnotationFile, typed=True)}
    for name in _OF_READER:
        del own[name]
    found: list[Mistake] = []
    made: dict[str, object] = {}
    for name, parameter in own.items():
        if name in value:
            with below(name, found):
                made[name] = strict.value(parameter, value[name])
        elif parameter.required:
            found.append(Mistake(name, f"is required: {expected(parameter.type)}"))
    options = {key: item for key, item in value.items() if key not in (*own, "reader")}
    reader = None
    if "reader" in value:
        reader = _reader(value["reader"], options, list(own), found)
        options = {}
    else:
        known = [*own, "reader", *dict.fromkeys(_options_of_readers())]
        for key in [key for key in options if key not in known]:
            mistake = unknown_key(key, options[key], known, noun="key")
            if not mistake.key:
                mistake = unknown_key(key, options[key], [*own, "reader"], noun="key")
            found.append(mistake)
    if found:
        raise Mistakes(found)
    checked = cast("dict[str, Any]", made)  # Any: each by its type
    return AnnotationFile(**checked, reader=reader, options=options)


def _reader(
    like: Any,  # Any: whatever was written; the registry checks it
    options: Mapping[str, object],
    own: list[str],
    found: list[Mistake],
) -> Reader | None:
    table = like if isinstance(like, Mapping) else {"name": like}
    for key in table.keys() & options.keys():
        found.append(Mistake(key, "is given twice", advice=f"leave {key} out of one of them"))
        return None
    try:
        made: Reader = component(READER, {**table, **options} if options else like)
    except Mistakes as error:
        for mistake in error.mistakes:
            key = mistake.path.partition(".")[0].partition("[")[0]
            if key in options:
                meant = unknown_key(key, options[key], [*own, "reader"], noun="key")
                found.append(meant if mistake.unknown and meant.key else mistake)
            elif isinstance(like, Mapping) or key not in ("", "name"):
                found.append(mistake.below("reader"))
            else:
                found.append(Mistake("", mistake.text, advice=mistake.advice).below("reader"))
        return None
    return made


def _options_of_readers() -> Iterator[str]:
    """Yield the parameters of every reader that can be loaded."""
    for entry in registry.default().entries(READER):
        try:
            names = [parameter.name for parameter in parameters_of(entry.load())]
        except InputError:  # a broken plugin has no options
            continue
        yield from names
