"""What the tests of interactive figures share: records that no run left, what a figure says, a drag."""

import json
from pathlib import Path

from conftest import made_up_record

from romae_book.lab import records

# Ground and text of the book's theme.
GROUNDS = {"light": ("#ffffff", "#222832"), "dark": ("#14181e", "#ced6dd")}


def keep(root, experiment: str, preset: str, arrays: dict, metrics: dict, seed: int = 0, **settings) -> Path:
    """A record that no run left, with arrays beside it; the path of the arrays."""
    record = made_up_record(experiment, preset, seed, settings, root, metrics=metrics)
    return records.save_arrays(root / experiment / f"{record.planned.name}.npz", **arrays)


def state(page, index: int = 0) -> dict:
    """What a figure says of itself, once it has nothing left to work out (busy)."""
    figure = page.locator(".romae-explorable").nth(index)
    while (told := json.loads(figure.get_attribute("data-state"))).get("busy"):
        page.wait_for_timeout(50)
    return told


def drag(page, start, dx: float = 0, dy: float = 0, steps: int = 5, end: bool = True) -> None:
    """By the mouse, from the middle of a node or from a place (x, y); end: let go."""
    if not isinstance(start, tuple):
        box = start.bounding_box()
        start = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + dx, start[1] + dy, steps=steps)
    if end:
        page.mouse.up()


def until(page, holds: str, timeout: int = 10_000) -> None:
    """Wait for what holds of the first figure's state, called `now` in JavaScript."""
    told = "JSON.parse(document.querySelector('.romae-explorable').dataset.state)"
    page.wait_for_function(f"() => {{ const now = {told}; return {holds}; }}", timeout=timeout)


def press(control, *keys: str):
    """Key after key on a control, and after each what the figure says."""
    for key in keys:
        control.press(key)
        yield state(control.page)
