"""Video files: MP4 by ffmpeg, GIF by Pillow. A file appears only when it is complete."""

import contextlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biped.errors import InputError
from biped.inputs.extras import need
from biped.inputs.files import replacing
from experiments.visualization.viewer import colors

if TYPE_CHECKING:
    from PIL.Image import Image

#: Quality of H.264, from 0 (lossless) to 51; 18 is visually lossless.
CRF = 18
COLORS = 256
#: Number of evenly spaced pictures that determine the colours of a GIF.
SAMPLES = 8
#: Colours that the palette must keep: each is added to the samples, as the share ``STRIP`` of their height.
MARKS = (
    *colors.MODES,
    colors.COM,
    colors.XCOM,
    colors.COP,
    colors.BASE,
    colors.PUSH,
    colors.PROJECTILE,
    *colors.GHOSTS,
)
STRIP = 0.004
#: [s] unit of time in a GIF.
TICK = 0.01
#: Highest picture rate of a GIF that browsers show.
MOST_GIF_FPS = 50.0


def check_film(suffix: str, size: tuple[int, int], fps: float) -> None:
    """Raise InputError unless an MP4 has even edges [pixels], and a GIF a rate that browsers show."""
    if suffix == ".mp4" and (size[0] % 2 or size[1] % 2):
        raise InputError(f"--size {size[0]}x{size[1]}: width and height of an MP4 must be even numbers of pixels")
    if suffix == ".gif" and fps > MOST_GIF_FPS:
        raise InputError(f"--fps {fps:g}: a GIF can show at most {MOST_GIF_FPS:g} pictures per second")


def write_mp4(path: Path, pictures: Iterator["Image"], size: tuple[int, int], fps: float) -> None:
    """Write H.264 video, which all browsers and players show; width and height [pixels] must be even."""
    need("PIL", "imageio_ffmpeg")
    import imageio_ffmpeg

    with replacing(path) as part:
        part.touch()  # an unwritable file is reported before anything is drawn
        encoder = imageio_ffmpeg.write_frames(
            part, size, fps=fps, codec="libx264", quality=None, macro_block_size=2, ffmpeg_log_level="quiet",
            output_params=["-crf", str(CRF), "-preset", "medium", "-movflags", "+faststart", "-f", "mp4"],
        )  # fmt: skip
        count = 0
        with contextlib.closing(encoder):
            encoder.send(None)
            for picture in pictures:
                count += 1
                try:
                    encoder.send(picture.tobytes())
                except OSError:  # ffmpeg has ended; its output explains why
                    break
        _check(path, part, count)


def _check(path: Path, part: Path, count: int) -> None:
    import imageio_ffmpeg

    try:
        written, _ = imageio_ffmpeg.count_frames_and_secs(str(part))
    except (OSError, RuntimeError):
        written = 0
    if written != count:
        raise InputError(f"{path}: ffmpeg wrote {written} of {count} pictures; is the disk full?")


def write_gif(path: Path, pictures: Iterator["Image"], fps: float) -> None:
    need("PIL")
    from PIL import Image

    with replacing(path) as part:
        part.touch()
        # The palette needs samples of all pictures, so all are kept, packed to save memory.
        packed = [_Packed(picture) for picture in pictures]
        palette = _palette(packed)
        # Without dithering, so that static parts are equal in all pictures.
        reduced = (picture.image.quantize(palette=palette, dither=Image.Dither.NONE) for picture in packed)
        next(reduced).save(
            part, format="GIF", save_all=True, append_images=reduced, loop=0, optimize=False, disposal=1,
            duration=durations(len(packed), fps),
        )  # fmt: skip


class _Packed:
    """Compressed picture in memory."""

    def __init__(self, picture: "Image") -> None:
        self._mode, self._size = picture.mode, picture.size
        self._bytes = zlib.compress(picture.tobytes(), level=1)

    @property
    def image(self) -> "Image":
        from PIL import Image

        return Image.frombytes(self._mode, self._size, zlib.decompress(self._bytes))


def durations(count: int, fps: float) -> list[int]:
    """Return the duration [ms] of each picture in whole hundredths of a second; their sum matches the rate."""
    ends = np.round(np.arange(count + 1) / fps / TICK).astype(int)
    return [int(length) * round(1e3 * TICK) for length in np.diff(ends)]


def _palette(pictures: "list[_Packed]") -> "Image":
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
