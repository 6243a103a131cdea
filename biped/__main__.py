"""``python -m biped`` is the command ``biped``."""

import sys

from experiments.cli import main

sys.exit(main())
