"""Where a page may save gains: who looks at the page is not always who has started it."""

from pathlib import Path

from biped.errors import InputError
from controllers.gains import read_gains, save_gains
from controllers.workspace import WorkspaceGains

SUFFIX = ".toml"


class GainsFolder:
    """The folder of the file that whoever started the page has named; nothing is written anywhere else."""

    def __init__(self, file: str | Path) -> None:
        self._file = Path(file)  # what is saved to unless another name is typed in

    @property
    def name(self) -> str:
        return self._file.name

    def path_of(self, name: str) -> Path:
        """The file of this name, which must be a plain one."""
        if not name:
            raise InputError("type a file's name first")
        if name == self._file.name:
            return self._file
        if any(part in name for part in ("/", "\\", ":", "..", "\0")) or not name.endswith(SUFFIX) or name[0] == ".":
            raise InputError(f"it must be a plain name that ends in {SUFFIX}, without a folder")
        return self._file.with_name(name)

    def save(self, gains: WorkspaceGains, name: str) -> Path:
        """Write gains, in place of such a file if there is one, but of nothing that holds something else; the file."""
        path = self.path_of(name)
        if path.exists() or path.is_symlink():
            _check_ours(path)
        save_gains(gains, path)
        return path


def _check_ours(path: Path) -> None:
    """That nothing is lost that is not gains; what is no regular file, such as a pipe, is not even opened."""
    refusal = InputError("there is such a file already, and it holds no gains: it is left as it is")
    if not path.is_file():
        raise refusal
    try:
        read_gains(path)
    except InputError:
        raise refusal from None
