"""Pictures that a command draws while the site is built::

    ```{picture} results/balance/overview.png
    biped run balance --set push.impulse=8
    ```

The commands run in a new folder that contains only the repository's ``examples``. The pictures are kept in
``docs/_build/pictures`` until the commands change, or until ``make clean``. On GitHub, and if notebooks are not run
(``nb_execution_mode`` is "off"), the page shows the commands without the picture.
"""

import hashlib
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

BIPED = (sys.executable, "-c", "import sys; from experiments.cli import main; sys.exit(main())")


class Picture(SphinxDirective):
    """A picture, and the commands that draw it."""

    required_arguments = 1  # the picture's path in the folder in which the commands run
    option_spec = {"alt": directives.unchanged_required}  # noqa: RUF012
    has_content = True

    def run(self) -> list[nodes.Node]:
        source = Path(self.env.srcdir)
        text = "\n".join(self.content)
        commands = nodes.literal_block(text, text, language="sh")
        if self.config.nb_execution_mode == "off":
            return [commands]
        folder = drawn(text, source / "_build" / "pictures", source.parent)
        picture = folder / self.arguments[0]
        if not picture.is_file():
            raise self.error(f"{text}: wrote no {self.arguments[0]}; it wrote {', '.join(pictures_of(folder))}")
        name = f"/{picture.relative_to(source).as_posix()}"
        return [nodes.image(uri=name, alt=self.options.get("alt", text)), commands]


def drawn(text: str, kept: Path, root: Path) -> Path:
    """Return the folder in which the commands have run; run them if their text is new."""
    folder = kept / hashlib.sha256(text.encode()).hexdigest()[:12]
    if not folder.is_dir():
        working = folder.with_suffix(".unfinished")
        shutil.rmtree(working, ignore_errors=True)
        working.mkdir(parents=True)
        (working / "examples").symlink_to(root / "examples")
        for line in text.splitlines():
            run(line, working)
        working.rename(folder)
    return folder


def run(line: str, folder: Path) -> None:
    program, *arguments = shlex.split(line, comments=True)
    if program != "biped":
        raise ValueError(f"{line}: the commands of a picture must be commands of biped")
    result = subprocess.run([*BIPED, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"{line}: exit status {result.returncode}\n{result.stderr}")


def pictures_of(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in (folder / "results").rglob("*.png"))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True}
