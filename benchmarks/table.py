"""Speed records as lines of text: for `python -m benchmarks`."""

from collections.abc import Iterator

from romae_book.lab.records import Record


def lines(record: Record) -> Iterator[str]:
    """A heading with what, where and how busy; then a line for each metric, with its range where it is a ratio."""
    config, metrics = record.config, record.metrics
    yield (
        f"\n{config['measure']}: {config['encoder']}, {config['encoding']}, {config['task']}, "
        f"batch {config['batch']} | {record.device}, {record.precision}, torch {record.versions.get('torch', '?')}, "
        f"{config['rounds']} rounds, {config['clock']} time, load {metrics['load']:.1f}"
    )
    for name, value in metrics.items():
        if name == "load" or name.endswith(("_low", "_high")):
            continue
        low, high = (metrics.get(f"{name}_{end}") for end in ("low", "high"))
        yield f"  {name:<44} {value:>12,.4g}" + ("" if low is None else f"  ({low:.3g} to {high:.3g})")
