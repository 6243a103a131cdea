"""Wheels: pure Python, unless BIPED_COMPILED names a folder of kernels that go into them."""

import os
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

COMPILED = os.environ.get("BIPED_COMPILED")


class WithKernels(build_py):
    """The packages, and beside the compiler what it has compiled: for any machine of the fixed target."""

    def run(self):  # noqa: D102
        super().run()
        if COMPILED:
            target = Path(self.build_lib) / "contact" / "compiling" / "shipped"
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir(parents=True)
            for file in Path(COMPILED).glob("*.code"):  # what is inlined serves nobody who compiles nothing
                shutil.copy(file, target)


class OfAPlatform(bdist_wheel):
    """Machine code is of one processor's kind, and pickled by one version of Python."""

    def finalize_options(self):  # noqa: D102
        super().finalize_options()
        self.root_is_pure = not COMPILED


setup(cmdclass={"build_py": WithKernels, "bdist_wheel": OfAPlatform})
