"""Pictures as data: what a panel shows is described once, and drawn by Matplotlib into files, by Plotly on pages."""
