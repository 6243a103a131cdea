"""Reports: one self-contained page about a run or a study, with interactive figures, and a notebook of the same."""

from experiments.reporting.run_figures import run_figures
from experiments.reporting.run_source import load_run
from experiments.reporting.study_page import study_figures
from experiments.reporting.write import write_report, write_run_page

__all__ = ["load_run", "run_figures", "study_figures", "write_report", "write_run_page"]
