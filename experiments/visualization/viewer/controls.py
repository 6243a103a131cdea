"""Controls on all pages: legend, help for keys and mouse, and screenshots."""

import html
import io
from collections.abc import Mapping
from typing import Any

from experiments.visualization.viewer.colors import legend

#: Actions of the mouse in every scene.
MOUSE = {"drag": "rotate the view", "scroll": "zoom", "right-drag": "move the view"}


def begin_panel(gui: Any, name: str) -> None:
    gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False, brand_color=(0, 114, 178))
    gui.set_panel_label(name)


def add_help(gui: Any, keys: Mapping[str, str]) -> None:
    """Add folders with the legend of colours, and with keys and mouse actions."""
    rows = "".join(
        f'<tr><td style="padding-right:1em"><b>{html.escape(key)}</b></td><td>{html.escape(what)}</td></tr>'
        for key, what in {**keys, **MOUSE}.items()
    )
    with gui.add_folder("Colours", expand_by_default=False):
        gui.add_html(legend())
    with gui.add_folder("Keys and mouse", expand_by_default=False):
        gui.add_html(f'<table style="margin:0 0.9em 0.5em;font-size:0.8em">{rows}</table>')


def add_screenshot(gui: Any) -> None:
    """Add a button that downloads the scene, as the user sees it, as a PNG."""
    button = gui.add_button("Save a picture", hint="download the scene as a PNG of this size")
    button.on_click(lambda event: _send_picture(event.client))


def _send_picture(client: Any) -> None:
    from PIL import Image

    if client is None:
        return
    drawn = client.get_render(client.camera.image_height, client.camera.image_width, transport_format="png")
    white = Image.new("RGBA", drawn.shape[1::-1], "white")
    data = io.BytesIO()
    Image.alpha_composite(white, Image.fromarray(drawn).convert("RGBA")).convert("RGB").save(data, "PNG")
    client.send_file_download("biped.png", data.getvalue(), save_immediately=True)
