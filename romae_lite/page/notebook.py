"""What the chapters share: checked parameters, and source code shown from the package itself."""

import difflib
import inspect
import textwrap
from typing import TypeVar

from ..lab.experiment import Experiment

E = TypeVar("E", bound=Experiment)


class Parameters:
    """Catches misspelt and ill-typed papermill parameters, which papermill itself lets pass.

    Made in the set-up cell, it remembers the names that exist; whatever is new by the time `apply` is first called was
    set in the parameters cell or by ``papermill -p``, and must be a setting of the experiment. Cells may be run again.
    """

    def __init__(self, namespace: dict):
        for earlier in [value for value in namespace.values() if isinstance(value, Parameters)]:
            for name in earlier.given or ():  # the parameters cell, which comes next, sets them anew
                namespace.pop(name, None)
        self.before, self.given = set(namespace), None

    def apply(self, experiment: E, namespace: dict, **others: tuple[type, float]) -> E:
        """The experiment with the parameters put in.

        others: parameters that are no settings of the experiment, as name=(type, least value).
        Raises TypeError or ValueError naming the parameter and what it accepts.
        """
        if self.given is None:  # once: what is new after this are the chapter's own names
            found = namespace.items()
            self.given = {k for k, v in found if k not in self.before and not k.startswith("_") and v is not self}
        new = {name: namespace[name] for name in self.given if name in namespace}
        settings = {name: value for name, value in new.items() if name not in others}
        known = [*experiment.config(), *others]
        for name in settings:
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                hint = f" Did you mean {close[0]!r}?" if close else ""
                raise TypeError(f"{name!r} is no parameter of this chapter.{hint} It has {', '.join(sorted(known))}")
        for name, (kind, least) in others.items():
            value = new.get(name)
            if type(value) is not kind or value < least:
                raise TypeError(f"{name} is {value!r}; it must be {kind.__name__}, at least {least}")
        return experiment.replace(**settings)


class Source:
    """The source code of package objects, displayed as highlighted Python: the code you read is the code that runs."""

    def __init__(self, *objects):
        self.text = "\n\n".join(textwrap.dedent(inspect.getsource(o)).rstrip() for o in objects)

    def _repr_markdown_(self) -> str:
        return f"```python\n{self.text}\n```"

    def __repr__(self) -> str:
        return self.text
