from .run_figures import run_figures
from .run_source import load_run
from .study_page import study_figures
from .write import write_report, write_run_page

__all__ = ["load_run", "run_figures", "study_figures", "write_report", "write_run_page"]
