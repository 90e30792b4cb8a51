"""What the chapters share: checked parameters, source code shown from the package itself, records for sentences."""

import ast
import difflib
import inspect
import re
import textwrap
from dataclasses import fields
from typing import NamedTuple, TypeVar

from romae_lite.training import accelerator_for

from ..experiments.base import Experiment
from ..lab.records import Record
from ..lab.runs import runs_of
from ..lab.summary import Summary, summarise

E = TypeVar("E", bound=Experiment)

SCALAR = (type(None), bool, int, float, str)
LITERAL = (*SCALAR, list, tuple, dict, set)  # what papermill can write into a cell
IPYTHON = re.compile(r"_{1,3}|_i{1,3}|_i?\d+|_[iod]h|_exit_code|__\w+__")  # names that IPython sets: _, _i, _12


class Parameters:
    """Refuses papermill parameters that are misspelt, ill-typed or named like something else; papermill takes them all.

    Made at the end of the set-up cell, it remembers the names and values there. A literal that is new when `apply` is
    first called was set in the parameters cell or by ``papermill -p``, and must be a parameter of the chapter. A name
    of the set-up cell that was overwritten gets its value back before the next cell runs, and is refused by `apply`.
    Cells may be run again; a parameter that is added then needs the set-up cell, too.
    """

    def __init__(self, namespace: dict):
        earlier = [value for value in namespace.values() if isinstance(value, Parameters)]
        for old in earlier:  # the parameters cell, which comes next, sets its names anew
            old._stop()
            for name in [name for name, value in namespace.items() if old._may_be_given(name, value)]:
                del namespace[name]
        names = [name for name in (earlier[0].setup if earlier else namespace) if name in namespace]
        self.setup = {name: namespace[name] for name in names if not IPYTHON.fullmatch(name)}
        self.namespace, self.given, self.overwritten = namespace, None, set()
        self.shell = namespace["get_ipython"]() if "get_ipython" in namespace else None
        if self.shell:
            self.shell.events.register("pre_run_cell", self._put_back)

    def apply(self, experiment: E | type[E], **others: tuple) -> E:
        """The experiment with the parameters put in.

        experiment: or its class, where the chapter has the parameter `preset`, which chooses what to start from.
        others: parameters that are no settings of the experiment, as name=(type[, least value[, largest value]]).
        Raises TypeError or ValueError naming the parameter and what it accepts.
        """
        if self.given is None:  # once: what is new after this are the chapter's own names
            self._put_back()
            self._stop()
            self.given = [name for name, value in self.namespace.items() if self._may_be_given(name, value)]
        if self.overwritten:
            names = ", ".join(map(repr, sorted(self.overwritten)))
            raise TypeError(f"{names} is no parameter of this chapter: its first cell has something else of that name")
        if isinstance(experiment, type):
            others["preset"] = (str,)
        given = {name: self.namespace[name] for name in self.given if name in self.namespace}
        known = sorted({*others, *(field.name for field in fields(experiment))})
        for name, value in given.items():
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                hint = f" Did you mean {close[0]!r}?" if close else ""
                raise TypeError(f"{name!r} is no parameter of this chapter.{hint} It has {', '.join(known)}")
            if not isinstance(value, SCALAR):
                raise TypeError(f"{name} is {value!r}; it must be a number, a string, True, False or None")
        for name, (kind, *bounds) in others.items():
            value = given.get(name)
            if type(value) is not kind or (bounds and value < bounds[0]) or (bounds[1:] and value > bounds[1]):
                limits = (f"{words} {bound}" for words, bound in zip(("at least", "at most"), bounds, strict=False))
                raise TypeError(f"{name} is {value!r}; it must be {', '.join((kind.__name__, *limits))}")
        if isinstance(experiment, type):
            experiment = experiment.preset(given["preset"])
        experiment = experiment.replace(**{name: value for name, value in given.items() if name not in others})
        accelerator_for(experiment.precision)  # ValueError where this machine lacks it
        return experiment

    def _may_be_given(self, name: str, value) -> bool:
        """Whether the parameters cell or papermill may have set this name."""
        return name not in self.setup and isinstance(value, LITERAL) and not IPYTHON.fullmatch(name)

    def _put_back(self, cell=None) -> None:
        """Note what has overwritten a name of the set-up cell, and give the name its value back."""
        for name, value in {"parameters": self, **self.setup}.items():
            if self.namespace.get(name) is not value:
                self.overwritten.add(name)
                self.namespace[name] = value

    def _stop(self) -> None:
        """From here on names are the chapter's."""
        if self.shell:
            self.shell.events.unregister("pre_run_cell", self._put_back)
            self.shell = None


class Source:
    """The source code of package objects, displayed as highlighted Python: the code you read is the code that runs.

    teaching: leaves out what checks arguments, shortens docstrings to their first sentence and lines to 88 columns.
    """

    def __init__(self, *objects, teaching: bool = False):
        sources = [textwrap.dedent(inspect.getsource(o)).rstrip() for o in objects]
        self.text = "\n\n".join(map(taught, sources) if teaching else sources)

    def _repr_markdown_(self) -> str:
        return f"```python\n{self.text}\n```"

    def __repr__(self) -> str:
        return self.text


COLUMNS = 88  # what the book's code box holds
CHECKS = {"whole", "wholes", "number", "choice", "kind", "tensor", "shapes", "checks"}  # romae_lite.checks


def taught(source: str) -> str:
    """The source of a function or class without what checks its arguments, with short docstrings and lines.

    Left out are calls of `romae_lite.checks`, ``if ...: raise``, and assignments that serve nothing else.
    """
    while gone := _left_out(source):
        lines = source.splitlines()
        for start, end, instead in sorted(gone, reverse=True):
            lines[start - 1 : end] = instead
        source = "\n".join(lines)
    source = re.sub(r"\n{3,}", "\n\n", source)
    source = re.sub(r'(""")\n\n', r"\1\n", source)
    return "\n".join(short for line in source.splitlines() for short in _wrapped(line))


def _left_out(source: str) -> list[tuple[int, int, list[str]]]:
    """First and last line of what a lesson does without, and the lines to put there."""
    tree, gone = ast.parse(source), []
    loaded = {}  # name -> how often it is used
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            loaded[node.id] = loaded.get(node.id, 0) + 1
    for node in ast.walk(tree):
        for body in (getattr(node, part, None) for part in ("body", "orelse")):
            if not isinstance(body, list):
                continue
            for i, one in enumerate(body):
                first, last = one.lineno, one.end_lineno
                if (
                    isinstance(one, ast.Expr)
                    and isinstance(one.value, ast.Constant)
                    and isinstance(one.value.value, str)
                ):
                    text = inspect.cleandoc(one.value.value)
                    sentence = " ".join(re.split(r"(?<=[.])\s|\n\n", text, maxsplit=1)[0].split()).rstrip(":")
                    indent = " " * one.col_offset
                    short = textwrap.wrap(f'"""{sentence}"""', COLUMNS, initial_indent=indent, subsequent_indent=indent)
                    if i == 0 and "\n".join(short) != "\n".join(source.splitlines()[first - 1 : last]):
                        gone.append((first, last, short))
                elif len(body) > 1 and (_checks(one) or _serves_nothing(one, loaded)):
                    gone.append((first, last, []))
    inner = [(a, b) for a, b, _ in gone]
    return [g for g in gone if not any((a, b) != g[:2] and a <= g[0] and g[1] <= b for a, b in inner)]


def _checks(node: ast.stmt) -> bool:
    """Whether a statement does nothing but check an argument."""
    if isinstance(node, ast.If):
        return not node.orelse and all(isinstance(one, ast.Raise) or _checks(one) for one in node.body)
    if isinstance(node, ast.Expr):
        return _is_check(node.value)
    if isinstance(node, ast.Assign):
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        return all(map(_is_check, values))
    return False


def _is_check(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    return isinstance(called, ast.Name) and called.id in CHECKS


def _serves_nothing(node: ast.stmt, loaded: dict[str, int]) -> bool:
    """Whether a statement assigns local names that nothing reads: they served a check."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    return (
        bool(targets)
        and all(isinstance(t, ast.Name) and not loaded.get(t.id) for t in targets)
        and not (isinstance(getattr(node, "value", None), ast.Constant))
    )


def _wrapped(line: str) -> list[str]:
    """A line of code in at most 88 columns: the comment above it, and the outermost bracket on lines of its own."""
    if len(line) <= COLUMNS:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    if line.lstrip().startswith("#"):
        return textwrap.wrap(
            line.strip()[1:].strip(), COLUMNS, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# "
        )
    code, hash_, comment = line.partition("  # ")
    if hash_:
        return [*_wrapped(f"{indent}# {comment}"), *_wrapped(code)]
    if '"""' in line:
        return [line]
    found = _outermost(code)
    if found is None:
        return [line]
    start, end, commas = found
    inside, deep = code[start + 1 : end], indent + "    "
    if len(deep + inside) <= COLUMNS:
        middle = [deep + inside]
    else:
        cuts, comma = [start, *commas, end], "," if commas else ""
        parts = [code[a + 1 : b].strip() for a, b in zip(cuts, cuts[1:], strict=False)]
        middle = [short for part in parts if part for short in _wrapped(f"{deep}{part}{comma}")]
    return [code[: start + 1], *middle, indent + code[end:]]


def _outermost(code: str) -> tuple[int, int, list[int]] | None:
    """The widest bracket of a line: where it opens and closes, and its own commas."""
    stack, spans, quote, commas = [], [], "", {}
    for i, c in enumerate(code):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{":
            stack.append(i)
        elif c in ")]}" and stack:
            spans.append((stack.pop(), i))
        elif c == "," and stack:
            commas.setdefault(stack[-1], []).append(i)
    if not spans:
        return None
    start, end = max(spans, key=lambda span: span[1] - span[0])
    return start, end, commas.get(start, [])


class Recorded(NamedTuple):
    """Records of one setting, one for each seed, and what a page has to say of them.

    note: "" for the setting that was asked for first; else in which settings another one differs, in Markdown.
    """

    runs: list[Record]
    note: str

    def summary(self, metric: str) -> Summary:
        """Mean and interval of a metric over the runs. ValueError where there are none."""
        return summarise(run.metrics[metric] for run in self.runs)


def recorded(*settings: Experiment, least: int = 3) -> Recorded:
    """The records of the first of these settings that has enough of them; of the richest where none has.

    A preset that was put right has fewer records at first than the one before: a page shows those then, and says so.
    `romae_book.lab.records.counted` says which runs count.
    """
    if not settings:
        raise TypeError("recorded() needs at least one experiment")
    found = [(setting, runs_of(setting)) for setting in settings]
    enough = [pair for pair in found if len(pair[1]) >= least]
    chosen, runs = enough[0] if enough else max(found, key=lambda pair: len(pair[1]))
    first, other = settings[0].config(), chosen.config()
    changed = [f"`{name}={other[name]}` instead of `{first[name]}`" for name in other if other[name] != first[name]]
    return Recorded(runs, ", ".join(changed))
