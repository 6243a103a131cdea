"""Output on terminals and in files whose encoding lacks some of the characters that are printed."""

import codecs
import io
import sys
import unicodedata

#: How characters are spelt that an encoding lacks, where their plain form is not theirs.
SPELT = {
    "µ": "u", "μ": "u", "·": "*", "×": "x", "−": "-", "–": "-", "—": "-", "°": " deg", "±": "+-", "≤": "<=", "≥": ">=",
    "√": "sqrt ", "∞": "inf", "π": "pi", "σ": "sigma", "ω": "omega", "θ": "theta", "τ": "tau", "★": "*", "Σ": "sum ",
    "│": "|", "─": "-", "━": "-", "┃": "|", "∣": "|", "“": '"', "”": '"', "’": "'",
}  # fmt: skip
_NAME = "biped.spelt"


def spell_what_cannot_be_encoded() -> None:
    """Let nothing that is printed be an error from now on, whatever the encoding."""
    codecs.register_error(_NAME, _spell)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_NAME)


def _spell(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(map(_spelt, error.object[error.start : error.end])), error.end


def _spelt(character: str) -> str:
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return SPELT.get(character) or plain or "?"
