"""Data sets that memory does not hold: tokens in HDF5 files, of which a few blocks of samples are read at a time.

for i, tokens in enumerate(parts):
    write(folder / f"{i:04d}.h5", tokens)
fit(model, Shards(sorted(folder.glob("*.h5"))), loss, recipe, seed=0)
"""

import io
import os
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from . import checks
from .io import atomic_write, digest
from .tokens import Tokens

FORMAT = "romae_lite tokens, 1"


def write(path: Path | str, tokens: Tokens) -> None:
    """One file of a data set, whole or not at all. Padding is left out; numbers keep their types and a checksum.

    ImportError without h5py; OSError where the file cannot be written."""
    checks.kind("tokens", tokens, Tokens)
    checks.kind("path", path, str | os.PathLike)
    h5py, tokens, real = _h5py(), tokens.to("cpu"), tokens.real.cpu()
    arrays = {"values": tokens.values[real], "positions": tokens.positions[real], "lengths": tokens.lengths.cpu()}
    for name, tensor in tokens.aux.items():
        per_token = name in tokens.per_token
        arrays[f"{'per_token' if per_token else 'aux'}/{name}"] = tensor[real] if per_token else tensor
    whole = io.BytesIO()
    with h5py.File(whole, "w") as file:
        file.attrs["format"], file.attrs["fingerprint"] = FORMAT, tokens.fingerprint()
        for name, tensor in arrays.items():
            file.create_dataset(name, data=tensor.numpy(), chunks=True, fletcher32=True)
    atomic_write(path, whole.getvalue())


class Shards:
    """A data set of `write`'s files, which `fit` takes as it takes `Tokens`.

    paths   the files, in order
    block   samples that are read at once
    keep    blocks that stay in memory, the last used: keep * block samples

    Raises ImportError without h5py; TypeError, ValueError and OSError naming the file for what is no such file, is
    damaged, or has other tokens than the first.
    """

    def __init__(self, paths: Sequence[Path | str], *, block: int = 1024, keep: int = 8):
        checks.kind("paths", paths, list | tuple)
        checks.whole("block", block, 1)
        checks.whole("keep", keep, 1)
        if not paths:
            raise ValueError(f"paths is {paths!r}; a data set has one file at least")
        self.paths, self.block, self.keep = [Path(path) for path in paths], block, keep
        about = [_about(path) for path in self.paths]
        for path, (_, shapes, _) in zip(self.paths, about, strict=True):
            if shapes != about[0][1]:
                raise ValueError(f"{path} holds {shapes}, and {self.paths[0]} {about[0][1]}; they must agree")
        self.lengths = torch.from_numpy(np.concatenate([lengths for lengths, _, _ in about]))  # (n,) tokens of each
        self.padded = bool((self.lengths != self.lengths[0]).any())
        self._names = [name for name in about[0][1] if name != "lengths"]
        self._fingerprints = [fingerprint for _, _, fingerprint in about]
        self._places = [  # of every block: file, first sample and first token in it, first sample of all, samples
            (path, i, int(lengths[:i].sum()), first + i, len(lengths[i : i + block]))
            for path, (lengths, _, _), first in zip(
                self.paths, about, np.cumsum([0] + [len(lengths) for lengths, _, _ in about[:-1]]), strict=True
            )
            for i in range(0, len(lengths), block)
        ]
        self._firsts = np.array([first for _, _, _, first, _ in self._places])
        self._held: OrderedDict[int, list[dict[str, Tensor]]] = OrderedDict()

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: Tensor | Sequence[int]) -> Tokens:
        """Some samples, filled up to the longest of them."""
        index = torch.as_tensor(index)
        if index.dtype == torch.bool:
            raise TypeError("index is of bool; it must be numbers: index.nonzero().squeeze(1)")
        if index.ndim != 1 or not len(index) or not bool(((index >= 0) & (index < len(self))).all()):
            raise IndexError(f"index is {index}; it must be numbers from 0 to {len(self) - 1}, one at least")
        samples = [self._sample(int(i)) for i in index]
        lengths = self.lengths[index]
        pad = torch.arange(int(lengths.max())) >= lengths[:, None]  # (B, N)
        found = {  # what every token has is filled up, the rest stacked
            name: (torch.stack if name.startswith("aux/") else _filled)([sample[name] for sample in samples])
            for name in samples[0]
        }
        aux = {name.split("/", 1)[1]: tensor for name, tensor in found.items() if "/" in name}
        return Tokens(
            values=found["values"], positions=found["positions"], pad=pad if pad.any() else None, aux=aux,
            per_token=frozenset(name.split("/", 1)[1] for name in found if name.startswith("per_token/")),
        )

    def to(self, device) -> "Shards":
        """Itself: only batches move."""
        return self

    def order(self, generator: torch.Generator) -> Tensor:
        """A random order in which every block is read once: blocks are shuffled, and samples among `keep` of them."""
        blocks = torch.randperm(len(self._places), generator=generator).tolist()
        found = []
        for i in range(0, len(blocks), self.keep):
            pool = [torch.arange(f, f + n) for _, _, _, f, n in (self._places[b] for b in blocks[i : i + self.keep])]
            pool = torch.cat(pool)
            found.append(pool[torch.randperm(len(pool), generator=generator)])
        return torch.cat(found)

    def fingerprint(self) -> str:
        """Of all files, in their order; another after any change to the data."""
        return digest({}, " ".join(self._fingerprints))

    def _sample(self, i: int) -> dict[str, Tensor]:
        number = int(np.searchsorted(self._firsts, i, side="right")) - 1
        if number not in self._held:
            if len(self._held) == self.keep:
                self._held.popitem(last=False)
            self._held[number] = self._read(number)
        self._held.move_to_end(number)
        return self._held[number][i - int(self._firsts[number])]

    def _read(self, number: int) -> list[dict[str, Tensor]]:
        path, first, token, start, count = self._places[number]
        lengths = self.lengths[start : start + count]
        tokens, samples = slice(token, token + int(lengths.sum())), slice(first, first + count)
        try:
            with _h5py().File(path) as file:
                found = {
                    name: torch.from_numpy(file[name][samples if name.startswith("aux/") else tokens])
                    for name in self._names
                }
        except (OSError, KeyError) as error:
            raise OSError(f"{path} cannot be read ({error}); write it again") from error
        parts = {n: t.unbind() if n.startswith("aux/") else t.split(lengths.tolist()) for n, t in found.items()}
        return [dict(zip(parts, sample, strict=True)) for sample in zip(*parts.values(), strict=True)]


def _filled(samples: list[Tensor]) -> Tensor:
    return pad_sequence(samples, batch_first=True)


def _about(path: Path) -> tuple[np.ndarray, dict[str, tuple], str]:
    """Of a file: the lengths of its samples, the shape of an entry of each array, its fingerprint."""
    try:
        with _h5py().File(path) as file:
            if file.attrs.get("format") != FORMAT:
                raise ValueError(f"{path} is no file of `romae_lite.shards.write`, or of another version of it")
            shapes: dict[str, tuple] = {}
            file.visititems(
                lambda n, one: shapes.update({n: (*one.shape[1:], str(one.dtype))} if hasattr(one, "dtype") else {})
            )
            return file["lengths"][:], shapes, file.attrs["fingerprint"]
    except (OSError, KeyError) as error:
        raise OSError(f"{path} cannot be read ({error}); write it again") from error


def _h5py():
    try:
        import h5py
    except ImportError as error:
        raise ImportError("data in HDF5 files need h5py: pip install h5py") from error
    return h5py
