"""``biped render``: saved runs as a video, an animated GIF, or an interactive page."""
