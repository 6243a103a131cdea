"""Run the command ``biped`` by ``python -m biped``."""

import sys

from experiments.cli import main

sys.exit(main())
