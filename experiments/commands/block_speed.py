"""``biped block-speed``: a preset of ``biped threshold``."""

from functools import partial

from experiments.commands.threshold import preset_main, preset_parser

parser = partial(preset_parser, "block-speed")
main = partial(preset_main, "block-speed")
