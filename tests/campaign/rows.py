"""All rows, in the order of the page."""

from . import caches, inputs, loops, studies, web

ROWS = (*loops.ROWS, *studies.ROWS, *inputs.ROWS, *caches.ROWS, *web.ROWS)
