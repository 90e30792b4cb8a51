"""Source code of the package, shown in a chapter: the code that is read is the code that runs."""

import inspect
import textwrap


class Source:
    """The source of functions, methods or classes, displayed as highlighted Python."""

    def __init__(self, *objects):
        self.text = "\n\n".join(textwrap.dedent(inspect.getsource(one)).rstrip() for one in objects)

    def _repr_markdown_(self) -> str:
        return f"```python\n{self.text}\n```"

    def __repr__(self) -> str:
        return self.text
