from .export.bids import export_bids
from .export.c3d import export_c3d
from .export.eurobench import export_eurobench
from .export.matlab import export_matlab
from .export.opensim import export_opensim
from .figures.mechanism import plot_mechanism
from .figures.panels import time_figure
from .figures.quantities import curve, over_time
from .figures.sheets import SHEETS, FigureSheet, draw_figures, plot_run
from .live.loop import Loop
from .panels.panel import Panel, Points
from .report.run_figures import run_figures
from .report.run_source import load_run
from .report.study_page import study_figures
from .report.write import write_report, write_run_page
from .video.state_pictures import StatePictures
from .video.view import PageView, view_model, view_run
from .viewer.shapes import shapes_of
from .viewer.trajectory import trajectory_of

__all__ = [
    "SHEETS", "FigureSheet", "Loop", "PageView", "Panel", "Points", "StatePictures", "curve", "draw_figures",
    "export_bids", "export_c3d", "export_eurobench", "export_matlab", "export_opensim", "load_run", "over_time",
    "plot_mechanism", "plot_run", "run_figures", "shapes_of", "study_figures", "time_figure", "trajectory_of",
    "view_model", "view_run", "write_report", "write_run_page",
]  # fmt: skip
