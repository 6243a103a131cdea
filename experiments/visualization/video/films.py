"""Films into files: MP4 by ffmpeg, GIF by Pillow. A file is there when it is complete, or not at all."""

import contextlib
import subprocess
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from biped.errors import InputError
from biped.extras import need
from experiments.visualization.viewer import colors

if TYPE_CHECKING:
    from PIL.Image import Image

#: Quality of H.264, from 0 (lossless) to 51; 18 shows no difference.
CRF = 18
COLORS = 256
#: So many pictures, evenly spaced, say which colours a GIF has.
SAMPLES = 8
#: Colours that mean something are in the palette however small what has them, by a strip of this share of the samples.
MARKS = (*colors.MODES, colors.COM, colors.XCOM, colors.COP, colors.BASE, colors.PUSH, colors.THROWN, *colors.GHOSTS)
STRIP = 0.004
#: [s] a GIF counts time in these.
TICK = 0.01
#: Browsers show no GIF faster than this.
MOST_GIF_FPS = 50.0
#: Pixels of all pictures of a GIF: each of them is a byte of memory until the file is written.
MOST_GIF_PIXELS = 1_000_000_000


@contextlib.contextmanager
def in_place_of(path: Path) -> Iterator[Path]:
    """A file to write into, which takes the place of ``path`` if all goes well and is gone if not."""
    part = path.with_name(path.name + ".part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_mp4(path: Path, pictures: Iterator["Image"], size: tuple[int, int], fps: float) -> None:
    """Write H.264, which every browser and player shows.

    Args:
        path: of the file.
        pictures: in order.
        size: width and height [pixels], both even.
        fps: pictures in a second.

    Raises:
        InputError: an edge is odd, or ffmpeg fails.
        OSError: the file cannot be written.
    """
    need("PIL", "imageio_ffmpeg")
    if size[0] % 2 or size[1] % 2:
        raise InputError(f"--size {size[0]}x{size[1]}: an MP4 needs even edges")
    with in_place_of(path) as part:
        part.touch()  # what cannot be written is told before anything is drawn
        count = 0
        with _encoder(part, size, fps) as encoder:
            for picture in pictures:
                count += 1
                if not encoder.take(picture.tobytes()):
                    break
        if encoder.error is not None:
            raise InputError(f"{path}: ffmpeg could not write it ({encoder.error})")
        _check(path, part, count)


class _Encoder:
    """A running ffmpeg that is fed with raw pictures."""

    def __init__(self, process: "subprocess.Popen[bytes]", said: IO[bytes]) -> None:
        self._process, self._said = process, said
        self.error: str | None = None

    def take(self, picture: bytes) -> bool:
        """Feed it; whether it still takes anything."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(picture)
        except BrokenPipeError:
            return False
        return True

    def end(self) -> None:
        """Let it finish, and read what was wrong if something was."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        if self._process.wait() != 0:
            self._said.seek(0)
            lines = [line.strip() for line in self._said.read().decode(errors="replace").splitlines() if line.strip()]
            self.error = lines[0] if lines else f"status {self._process.returncode}"


@contextlib.contextmanager
def _encoder(part: Path, size: tuple[int, int], fps: float) -> Iterator[_Encoder]:
    """An ffmpeg of imageio-ffmpeg's that writes H.264; it is gone afterwards."""
    import imageio_ffmpeg

    command = [
        imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24",
        "-s", f"{size[0]}x{size[1]}", "-r", f"{fps:.10g}", "-i", "-", "-an", "-c:v", "libx264", "-crf", str(CRF),
        "-preset", "medium", "-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4", str(part),
    ]  # fmt: skip
    with tempfile.TemporaryFile() as said:
        # A session of its own: Ctrl-C is ours to hear.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=said, stderr=said, start_new_session=True)
        encoder = _Encoder(process, said)
        try:
            yield encoder
        except BaseException:
            process.kill()
            raise
        finally:
            encoder.end()


def _check(path: Path, part: Path, count: int) -> None:
    """Whether all pictures are in the file."""
    import imageio_ffmpeg

    try:
        found, _ = imageio_ffmpeg.count_frames_and_secs(str(part))
    except (OSError, RuntimeError):
        found = 0
    if found != count:
        raise InputError(f"{path}: ffmpeg wrote {found} of {count} pictures; is the disk full?")


def write_gif(path: Path, pictures: Iterator["Image"], fps: float) -> None:
    """Write a GIF that plays again and again, with one palette for all of it.

    Args:
        path: of the file.
        pictures: in order.
        fps: pictures in a second.

    Raises:
        InputError: there are too many in a second.
        OSError: the file cannot be written.
    """
    need("PIL")
    if fps > MOST_GIF_FPS:
        raise InputError(f"--fps {fps:g}: a GIF shows {MOST_GIF_FPS:g} at most")
    with in_place_of(path) as part:
        part.touch()
        # The palette is of samples of them all, so all must be there first: packed, for plain ones fill the memory.
        packed = [_Packed(picture) for picture in pictures]
        palette = _palette(packed)
        reduced = (_reduced(picture.image, palette) for picture in packed)
        next(reduced).save(
            part, format="GIF", save_all=True, append_images=reduced, loop=0, optimize=False, disposal=1,
            duration=durations(len(packed), fps),
        )  # fmt: skip


class _Packed:
    """A picture that takes little memory: what stands still, as most of it does, packs well."""

    def __init__(self, picture: "Image") -> None:
        self._mode, self._size = picture.mode, picture.size
        self._bytes = zlib.compress(picture.tobytes(), level=1)

    @property
    def image(self) -> "Image":
        """The picture."""
        from PIL import Image

        return Image.frombytes(self._mode, self._size, zlib.decompress(self._bytes))


def check_gif(count: int, size: tuple[int, int]) -> None:
    """That a GIF of so many pictures of a size [pixels] can be written.

    Raises:
        InputError: it takes too much memory.
    """
    most = MOST_GIF_PIXELS // (size[0] * size[1])
    if count > most:
        raise InputError(
            f"a GIF of {size[0]}x{size[1]} has {most} pictures at most, not {count}: "
            "take fewer --fps, a smaller --size, a shorter part, or an MP4"
        )


def durations(count: int, fps: float) -> list[int]:
    """[ms] of each picture, in whole hundredths of a second, which add up to what the rate asks for."""
    ends = np.round(np.arange(count + 1) / fps / TICK).astype(int)
    return [int(length) * round(1e3 * TICK) for length in np.diff(ends)]


def _palette(pictures: "list[_Packed]") -> "Image":
    """The colours that serve all pictures best."""
    from PIL import Image

    chosen = [pictures[k].image for k in np.unique(np.linspace(0, len(pictures) - 1, SAMPLES).astype(int))]
    width, height = chosen[0].size
    strip = max(1, round(STRIP * height * len(chosen)))
    sheet = Image.new("RGB", (width, height * len(chosen) + strip * len(MARKS)))
    for k, picture in enumerate(chosen):
        sheet.paste(picture, (0, k * height))
    for k, color in enumerate(MARKS):
        begin = height * len(chosen) + k * strip
        sheet.paste(color, (0, begin, width, begin + strip))
    return sheet.quantize(COLORS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)


def _reduced(picture: "Image", palette: "Image") -> "Image":
    """In the palette's colours; without dithering, so that what stands still stays the same from picture to picture."""
    from PIL import Image

    return picture.quantize(palette=palette, dither=Image.Dither.NONE)
