"""Trained networks from files: ONNX by onnxruntime, TorchScript by torch."""

import csv
import json
import os
import re
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from biped.errors import BipedError, InputError
from biped.inputs.extras import need
from contact.arrays import Floats

#: An array of numbers of any precision.
Array = NDArray[Any]
#: Greatest length of a message of onnxruntime or torch; those of torch begin with listings of code.
REASON = 250
SUFFIXES = (".onnx", ".pt", ".jit")


class Network(Protocol):
    """A network with memory: one observation in, one action out."""

    metadata: dict[str, str]

    def reset(self) -> None:
        """Clear the memory."""

    def __call__(self, observation: Floats) -> Floats:
        """Return the action for an observation, both flat."""

    def memory(self) -> list[Array]:
        """Return copies of the arrays that the network keeps between calls."""

    def remember(self, memory: list[Array]) -> None:
        """Restore these arrays."""


class OnnxNetwork:
    """ONNX network. Inputs after the first are memory: each takes the output in the same place after the first."""

    def __init__(self, path: Path) -> None:
        need("onnxruntime")
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.metadata = dict(self._session.get_modelmeta().custom_metadata_map)
        self._input, *self._kept = self._session.get_inputs()
        outputs = self._session.get_outputs()
        for kept, output in zip(self._kept, [*outputs[1:], *[None] * len(self._kept)], strict=False):
            if output is None or kept.shape != output.shape or kept.type != "tensor(float)":
                raise InputError(f"{path}: its input {kept.name!r} is no recurrent state: no output has its shape")
        self._outputs = [output.name for output in outputs[: 1 + len(self._kept)]]
        self.reset()

    def reset(self) -> None:
        """Set the memory to zero."""
        # A size without a number is that of a batch, here one.
        self._memory: list[Array] = [
            np.zeros([size if isinstance(size, int) else 1 for size in kept.shape], np.float32) for kept in self._kept
        ]

    def __call__(self, observation: Floats) -> Floats:
        """Return the action for an observation, both flat."""
        fed = {self._input.name: observation.astype(np.float32).reshape(1, -1)}
        fed |= {kept.name: array for kept, array in zip(self._kept, self._memory, strict=True)}
        action, *self._memory = self._session.run(self._outputs, fed)
        return np.asarray(action, dtype=np.float64).ravel()

    def memory(self) -> list[Array]:
        """Return copies of the arrays of the memory."""
        return [array.copy() for array in self._memory]

    def remember(self, memory: list[Array]) -> None:
        """Restore the arrays of the memory."""
        self._memory = [array.copy() for array in memory]


class TorchNetwork:
    """TorchScript network. Its buffers with "state" in their names are memory, as in the exporters of RSL-RL."""

    def __init__(self, path: Path) -> None:
        need("torch")
        import torch

        torch.set_num_threads(1)  # studies use a process for each core
        self.metadata: dict[str, str] = {}
        with warnings.catch_warnings():  # torch.jit.load is deprecated, but TorchScript files have no other reader
            warnings.simplefilter("ignore", FutureWarning)
            module = torch.jit.load(str(path), map_location="cpu")
        self._torch, self._module = torch, module.eval()
        self._kept = [buffer for name, buffer in self._module.named_buffers() if "state" in name]
        self.reset()

    def reset(self) -> None:
        """Set the memory to zero."""
        for buffer in self._kept:
            buffer.zero_()

    def __call__(self, observation: Floats) -> Floats:
        """Return the action for an observation, both flat."""
        with self._torch.no_grad():
            action = self._module(self._torch.tensor(observation.reshape(1, -1), dtype=self._torch.float32))
        return action.numpy().astype(np.float64).ravel()

    def memory(self) -> list[Array]:
        """Return copies of the arrays of the memory."""
        return [buffer.numpy().copy() for buffer in self._kept]

    def remember(self, memory: list[Array]) -> None:
        """Restore the arrays of the memory."""
        for buffer, array in zip(self._kept, memory, strict=True):
            buffer.copy_(self._torch.from_numpy(array))


def load_network(path: Path, version: int | None = None) -> Network:
    """Return the network in a file, loaded once for each version of the file; None: the present one.

    Raises:
        InputError: there is no such file, or it is neither ONNX nor TorchScript.
        MissingExtraError: onnxruntime or torch is not installed.
    """
    return _loaded(path, version_of(path) if version is None else version)


def version_of(path: Path) -> int:
    """Return a number that changes with the files of a network; raises InputError as ``load_network``."""
    if path.suffix not in SUFFIXES:
        raise InputError(f"{path}: a network must be a file {', '.join(SUFFIXES)}")
    if not path.is_file():
        raise InputError(f"{path}: this file does not exist")
    return sum(file.stat().st_mtime_ns for file in files_of(path))


def files_of(path: Path) -> tuple[Path, ...]:
    """Return the file of a network and, for ONNX, the existing files of weights to which it refers."""
    return path, *filter(Path.is_file, _weights(path, path.stat().st_mtime_ns) if path.suffix == ".onnx" else ())


@lru_cache(maxsize=4)
def _weights(path: Path, _modified: int) -> list[Path]:
    """Return the files in the entries ``location`` of an ONNX file, a protocol buffer: key, length, value."""
    content, names = path.read_bytes(), set()
    entry = rb"\n\x08location\x12([\x80-\xff]?)([\x00-\x7f])"  # a byte has seven bits of the length, the lowest first
    for place in re.finditer(entry, content):
        low, high = (place[1][0] & 0x7F, place[2][0]) if place[1] else (place[2][0], 0)
        names.add(os.fsdecode(content[place.end() : place.end() + (high << 7 | low)]))
    return [path.parent / name for name in sorted(names)]


@lru_cache(maxsize=4)
def _loaded(path: Path, _version: int) -> Network:
    try:
        return OnnxNetwork(path) if path.suffix == ".onnx" else TorchNetwork(path)
    except BipedError:
        raise
    except Exception as error:  # onnxruntime and torch have classes of their own
        raise InputError(f"{path} cannot be loaded: {reason_of(error)}") from error


def reason_of(error: Exception) -> str:
    """Return the end of an error's message in one line, which has the reason; its class without a message."""
    return " ".join(str(error).split())[-REASON:] or type(error).__name__


def values_in(text: str) -> Any:
    """Return the value of an entry of metadata: JSON, or words and numbers with commas between."""
    try:
        return json.loads(text)
    except ValueError:
        (words,) = csv.reader([text])
    try:
        return [float(word) for word in words]
    except ValueError:
        return words
