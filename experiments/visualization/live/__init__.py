"""``biped live``: an experiment in real time in the browser, with adjustable gains."""
