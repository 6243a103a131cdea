"""``biped push-map``: a preset of ``biped threshold``."""

from functools import partial

from experiments.commands.threshold import preset_main, preset_parser

parser = partial(preset_parser, "push-map")
main = partial(preset_main, "push-map")
