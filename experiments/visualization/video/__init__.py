"""``biped render``: saved runs as a video, as an animated picture, or as a page that plays them."""
