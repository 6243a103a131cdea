"""S-expressions: the language in which the paper describes mechanisms (Johnson & Murphey 2009, section V-B, Table II).

``(system …)``, or ``(mechanical-system …)``, holds frames, gravity, and components by their keywords. Symbols are not
case-sensitive; names are in quotes.
"""

from pathlib import Path

from formulations.mechanism.errors import MechanismError
from formulations.mechanism.expressions.building import Parts, build_parts
from formulations.mechanism.expressions.reading import ExpressionError, read_form
from formulations.mechanism.expressions.writing import component_line, frame_lines, gravity_line, name_line
from formulations.mechanism.mechanism import Mechanism

__all__ = ["ExpressionError", "load_mechanism", "mechanism_text", "parts_of", "save_mechanism"]


def load_mechanism(source: str | Path) -> Mechanism:
    """Load the mechanism that an S-expression describes.

    Args:
        source: path of a file, or the S-expression itself, which begins with a parenthesis or a comment.

    Raises:
        ExpressionError: the text does not describe a mechanism; the message gives line and column.
        MechanismError: the file cannot be read.
        InputError: the mechanism is impossible, for example without a configuration variable.
    """
    return Mechanism(**vars(parts_of(source)))


def parts_of(source: str | Path) -> Parts:
    """Return the parts of the mechanism that an S-expression describes; see `load_mechanism`."""
    if isinstance(source, str) and source.lstrip()[:1] in ("(", ";", ")", '"'):
        return build_parts(read_form(source), "mechanism")
    path = Path(source)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise MechanismError(f"there is no file {str(source)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise MechanismError(f"{source} cannot be read: {error}") from None
    return build_parts(read_form(text, path.name), path.stem)


def mechanism_text(mechanism: Mechanism | Parts) -> str:
    """Return a mechanism as an S-expression; `load_mechanism` restores all its numbers exactly.

    Raises:
        MechanismError: a field of a component is a function, or its class has no keyword.
    """
    components = (*mechanism.potentials, *mechanism.constraints, *mechanism.forces)
    lines = [name_line(mechanism.name)]
    if mechanism.gravity is not None:
        lines.append(gravity_line(mechanism.gravity))
    body = [f"  {line}" for line in lines] + frame_lines(mechanism.frames)
    body += [f"  {component_line(component)}" for component in components]
    return "(system\n" + "\n".join(body) + ")\n"


def save_mechanism(mechanism: Mechanism | Parts, path: str | Path) -> None:
    """Write a mechanism to a file as an S-expression.

    Raises:
        MechanismError: a field of a component is a function, or its class has no keyword.
        OSError: the file cannot be written.
    """
    Path(path).write_text(mechanism_text(mechanism), encoding="utf-8")
