"""Films into files: MP4 by ffmpeg, GIF by Pillow. A file is there when it is complete, or not at all."""

import contextlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biped.errors import InputError
from biped.inputs.extras import need
from biped.inputs.files import in_place_of
from experiments.visualization.viewer import colors

if TYPE_CHECKING:
    from PIL.Image import Image

#: Quality of H.264, from 0 (lossless) to 51; 18 shows no difference.
CRF = 18
COLORS = 256
#: So many pictures, evenly spaced, say which colours a GIF has.
SAMPLES = 8
#: Colours that mean something are in the palette however small what has them, by a strip of this share of the samples.
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
#: [s] a GIF counts time in these.
TICK = 0.01
#: Browsers show no GIF faster than this.
MOST_GIF_FPS = 50.0


def write_mp4(path: Path, pictures: Iterator["Image"], size: tuple[int, int], fps: float) -> None:
    """Write H.264, which every browser and player shows; both edges of its size [pixels] are even."""
    need("PIL", "imageio_ffmpeg")
    import imageio_ffmpeg

    if size[0] % 2 or size[1] % 2:
        raise InputError(f"--size {size[0]}x{size[1]}: an MP4 needs even edges")
    with in_place_of(path) as part:
        part.touch()  # what cannot be written is an error before anything is drawn
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
                except OSError:  # it has ended; what it has written says enough
                    break
        _check(path, part, count)


def _check(path: Path, part: Path, count: int) -> None:
    import imageio_ffmpeg

    try:
        found, _ = imageio_ffmpeg.count_frames_and_secs(str(part))
    except (OSError, RuntimeError):
        found = 0
    if found != count:
        raise InputError(f"{path}: ffmpeg wrote {found} of {count} pictures; is the disk full?")


def write_gif(path: Path, pictures: Iterator["Image"], fps: float) -> None:
    need("PIL")
    from PIL import Image

    if fps > MOST_GIF_FPS:
        raise InputError(f"--fps {fps:g}: a GIF shows {MOST_GIF_FPS:g} at most")
    with in_place_of(path) as part:
        part.touch()
        # The palette is of samples of them all, so all must be there first: packed, for plain ones fill the memory.
        packed = [_Packed(picture) for picture in pictures]
        palette = _palette(packed)
        # Without dithering, so that what stands still stays the same from picture to picture.
        reduced = (picture.image.quantize(palette=palette, dither=Image.Dither.NONE) for picture in packed)
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
        from PIL import Image

        return Image.frombytes(self._mode, self._size, zlib.decompress(self._bytes))


def durations(count: int, fps: float) -> list[int]:
    """[ms] of each picture, in whole hundredths of a second, which add up to what the rate asks for."""
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
