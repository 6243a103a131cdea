"""Wheels: pure Python, unless BIPED_COMPILED names a folder of kernels that go into them."""

import os
import shutil
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

COMPILED = os.environ.get("BIPED_COMPILED")


class WithKernels(build_py):
    """The packages, and beside the compiler what it has compiled: for any machine of the fixed target."""

    def run(self):  # noqa: D102
        super().run()
        if COMPILED:
            target = Path(self.build_lib) / "kernelcache" / "shipped"
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir(parents=True)
            for file in Path(COMPILED).glob("*.code"):  # what is inlined serves nobody who compiles nothing
                shutil.copy(file, target)


class OfAPlatform(Distribution):
    """Machine code is of one kind of processor, and pickled by one version of Python."""

    def has_ext_modules(self):  # noqa: D102
        return bool(COMPILED)


setup(cmdclass={"build_py": WithKernels}, distclass=OfAPlatform)
