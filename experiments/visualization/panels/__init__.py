"""Panels as data: described once, drawn by Matplotlib into files and by Plotly on pages."""
