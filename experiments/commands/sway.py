"""``biped sway``: a table of sway measures of force-plate records, with one row for each file."""

from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biped.errors import InputError
from contact.errors import listed
from experiments.cli.failures import FAILURE, UNSOLVED, describe
from experiments.cli.main import Parser, fail
from experiments.cli.progress import ProgressBar
from experiments.cli.reply import reply

if TYPE_CHECKING:
    from biped.records import Record
    from contact.arrays import Floats

_DESCRIPTION = """\
Measure the sway of quiet stance in force-plate records: distances, velocity, area, frequencies, sway density and
stabilogram diffusion of the centre of pressure, in SI units. The table of results has one row for each file."""

_EXAMPLES = """\
examples:
  biped sway trials/*.csv                          columns cop_ap and cop_ml
  biped sway BDS*.txt --ap COPx --ml COPy --groups BDSinfo.txt --key Trial --out sway.csv
  biped sway plate.csv --plate Fx Fy Fz Mx My Mz --ap cop_x --ml cop_y --filter 10
  biped sway old.txt --ap x --ml y --rate 50 --units x=mm,y=mm

Exit status 1: a file could not be measured; the table has the other files.
"""

#: [m] largest plausible range of the centre of pressure of two feet.
WIDEST = 0.5
_PLATE = ("fx", "fy", "fz", "mx", "my", "mz")
#: Printed table: headings, and factors of the measures.
_SHOWN = {
    "duration": ("duration [s]", 1.0),
    "rms_distance_ap": ("RMS AP [mm]", 1e3),
    "rms_distance_ml": ("RMS ML [mm]", 1e3),
    "mean_velocity": ("velocity [mm/s]", 1e3),
    "area": ("area [mm²]", 1e6),
    "power_frequency_50_ap": ("PF50 AP [Hz]", 1.0),
    "critical_time": ("critical time [s]", 1.0),
}


def parser() -> Parser:
    command = Parser("biped sway", _DESCRIPTION, _EXAMPLES, page="sway")
    command.add_argument("files", metavar="FILE", nargs="+", help="records: CSV, TSV, text, C3D, .mot, .sto, .mat")
    command.option("--ap", "COLUMN", "column of the anteroposterior centre of pressure", "cop_ap")
    command.option("--ml", "COLUMN", "column of the mediolateral centre of pressure", "cop_ml")
    text = "columns of a plate's forces and moments, from which the columns cop_x and cop_y are computed"
    command.add_argument("--plate", metavar=tuple(map(str.upper, _PLATE)), nargs=6, help=text)
    command.option("--surface", "Z", "z coordinate [m] of the surface of --plate, from the origin of the moments", 0.0)
    command.option("--time", "COLUMN", "name of the time column", "time")
    command.option("--rate", "HZ", "sampling rate [Hz] of files without a time column", float)
    command.option("--heading", "LINE", "number of the header line of text files; 0: none (default: detected)", int)
    command.option("--units", "LIST", "units that the files do not state, such as COPx=mm,COPy=mm", _units)
    command.option("--gaps", "S", "longest gap [s] filled by linear interpolation", 0.0)
    command.option("--filter", "HZ", "cut-off frequency [Hz] of a fourth-order zero-lag low-pass filter; 0: none", 0.0)
    command.option("--resample", "HZ", "new sampling rate [Hz], after the filter; 0: the record's rate", 0.0)
    command.option("--begin", "S", "start [s] of the measured part of the record (default: first sample)", float)
    command.option("--end", "S", "end [s] of the measured part of the record; inf: last sample", float("inf"))
    command.option("--groups", "TABLE", "table of metadata with one row for each file: .csv, .tsv, .txt or .parquet")
    command.option("--key", "COLUMN", "column of --groups with the files' names (default: the first that contains one)")
    command.option("--out", "TABLE", "file for the table of results: .csv or .parquet", "results/sway.csv")
    command.add_forms()
    return command


def main(options: Namespace) -> int:
    import pandas as pd

    from biped.inputs.files import replacing
    from experiments.cli.output import writable_folder
    from experiments.cli.terminal import say
    from experiments.visualization.document import print_block
    from experiments.visualization.pages import Table

    out, files = Path(options.out), options.files
    if out.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"--out {out}: the file for the table of results must end in .csv or .parquet")
    groups = _groups(Path(options.groups), options.key, files) if options.groups else {}
    writable_folder(out.parent)
    rows: list[dict[str, Any]] = []
    notes: dict[str, list[str]] = {}
    with ProgressBar(len(files), "measuring", "files", counts=True) as bar:
        for done, file in enumerate(files):
            bar(done)
            try:
                row, remarks = _measured(file, options)
                rows.append({"file": file, **_with_groups(row, file, groups)})
            except Exception as error:
                message = describe(error)
                if message is None:
                    raise
                fail(message if file in message else f"{file}: {message}", FAILURE)
                continue
            for remark in remarks:
                notes.setdefault(remark, []).append(file)
    if not rows:
        return FAILURE
    table = pd.DataFrame(rows)
    with replacing(out) as part:
        table.to_csv(part, index=False) if out.suffix.lower() == ".csv" else table.to_parquet(part, index=False)
    reply({"trials": table, "notes": notes, "file": out})
    shown = {name: text for name, text in _SHOWN.items() if name in table}
    scaled = table.assign(**{name: factor * table[name] for name, (_, factor) in shown.items()})
    headings = {name: heading for name, (heading, _) in shown.items()}
    print_block(Table.of("", scaled[["file", *headings]].rename(columns=headings)))
    for remark, of in notes.items():
        say(f"{listed(of, 3)}: {remark}", "yellow")
    say(f"{out}: {len(table)} files, {len(table.columns)} columns", "cyan")
    return UNSOLVED if len(rows) < len(files) else 0


def _measured(file: str, options: Namespace) -> tuple[dict[str, float], list[str]]:
    """Return the measures of a file, and notes about assumed and missing information."""
    from biped.records import Preparation, read_record

    layout = {"time": options.time, "rate": options.rate, "units": options.units, "heading": options.heading}
    record = read_record(file, **layout, log=False)
    record = _with_pressure(record, options.plate, options.surface) if options.plate else record
    begin = float(record.time[0]) if options.begin is None else options.begin
    prepared = Preparation(options.gaps, options.filter, options.resample, begin=begin, end=options.end)
    _check_rows(record, options)
    unsaid = [name for name in options.plate or (options.ap, options.ml) if record.units.get(name) == ""]
    notes = list(record.notes)
    notes += [f"{name} has no unit: SI units are assumed; give its unit with --units" for name in unsaid]
    columns = []
    for name in (options.ap, options.ml):
        if name not in record.columns:
            remedy = "name the centre of pressure with --ap and --ml, or forces and moments with --plate"
            raise InputError(f"{file}: no column {name!r}; columns are {', '.join(record.columns)}: {remedy}")
        time, values = prepared(record, name, "m")
        if name in unsaid and (wide := values.max() - values.min()) > WIDEST:
            remedy = f"give its unit, such as --units {name}=mm"
            raise InputError(f"{file}, column {name}: as metres, its values would range over {wide:.3g} m: {remedy}")
        columns.append(values)
    if options.ap == options.ml:
        raise InputError(f"--ap and --ml are both {options.ap!r}: they must name two columns, along different axes")
    measures = {"duration": float(time[-1] - time[0]), "rate": float((len(time) - 1) / (time[-1] - time[0]))}
    return measures | _measures(notes, time, *columns), notes


def _check_rows(record: "Record", options: Namespace) -> None:
    """Raise InputError if rows are missing that ``--gaps`` and ``--resample`` do not fill."""
    import numpy as np

    from biped.records.record import are_left_out

    missing = np.flatnonzero(are_left_out(record.time) & (record.time[1:] > (options.begin or -np.inf)))
    missing = missing[record.time[missing] < options.end]
    longest = float(np.diff(record.time)[missing].max(initial=0.0))
    if missing.size and (not options.resample or longest > options.gaps):
        raise InputError(
            f"{record.source}: rows are missing after {record.time[missing[0]]:g} s: set --gaps to {longest:.3g} s "
            f"or more, --resample to {record.rate:.4g} Hz and --filter to half of it or less; or use --begin and --end"
        )


def _measures(notes: list[str], time: "Floats", ap: "Floats", ml: "Floats") -> dict[str, float]:
    """Return all measures of AP and ML sway [m] at times [s]; add a note on each kind that cannot be computed."""
    from biped.metrics import diffusion_curve, diffusion_measures, mean_power_frequency, sway_density, sway_measures
    from biped.metrics.posturography.diffusion import PARTING

    measures = sway_measures(time, ap, ml)
    if not measures:
        raise InputError(f"the record has only {len(time)} samples: it needs three or more")
    if "power_low" not in measures:
        notes.append("no measures of the spectrum: the record is shorter than 20 s, or has no motion")
    for what, measure in (
        ("mean power frequency", mean_power_frequency),
        ("sway density", sway_density),
        ("diffusion", lambda *sway: diffusion_measures(diffusion_curve(*sway))),
    ):
        try:
            measures |= measure(time, ap, ml)
        except InputError as error:
            notes.append(f"no {what}: {error}")
    names = [name.replace("parting", "critical_time") for name in measures if name.startswith("parting")]
    if without := ", ".join(name for name in names if name not in measures):
        notes.append(f"no {without}: there is no critical point between {PARTING[0]:g} and {PARTING[1]:g} s")
    return measures


def _with_pressure(record: "Record", plate: Sequence[str], surface: float) -> "Record":
    """Return the record with columns ``cop_x`` and ``cop_y`` [m]; NaN below 20 N of vertical ground reaction force."""
    import numpy as np

    from biped.records.c3d import LOADED

    units = ["N" if kind.startswith("f") else "N*m" for kind in _PLATE]
    fx, fy, fz, mx, my, _ = map(record.converted, plate, units)
    borne = np.where(np.abs(fz) >= LOADED, fz, np.nan)
    pressure = {"cop_x": (surface * fx - my) / borne, "cop_y": (surface * fy + mx) / borne}
    return replace(record, columns={**record.columns, **pressure}, units={**record.units, "cop_x": "m", "cop_y": "m"})


def _units(text: str) -> dict[str, str]:
    from biped.records.read import units_in

    try:
        return units_in(text)
    except InputError as error:
        raise ArgumentTypeError(str(error)) from None


def _groups(path: Path, key: str | None, files: Sequence[str]) -> dict[str, list[dict[Any, Any]]]:
    """Return the rows of a metadata table for each file, matched by the file's name with or without suffix."""
    from experiments.statistics.table import check_columns, read_table

    table = read_table(path)
    names = table.map(lambda value: Path(str(value)).name)
    of = {file: (Path(file).name, Path(file).stem) for file in files}
    file_names = [name for both in of.values() for name in both]
    key = key or next((str(name) for name in table if names[name].isin(file_names).any()), None)
    if key is None:
        raise InputError(f"{path}: no column has file names, such as {Path(files[0]).stem}; set the column by --key")
    check_columns(table, [key])
    return {file: table[names[key].isin(both)].to_dict("records") for file, both in of.items()}


def _with_groups(row: dict[str, float], file: str, groups: dict[str, list[dict[Any, Any]]]) -> dict[str, Any]:
    rows = groups.get(file, [{}])
    if len(rows) != 1:
        raise InputError(f"{file}: {len(rows)} rows of the --groups table have the name of this file: it must be one")
    if twice := {"file", *row} & set(rows[0]):
        raise InputError(f"{file}: rename the columns of --groups that have names of results: {', '.join(twice)}")
    return rows[0] | row
