"""Which theme is on where none was chosen; the default is Python, so that the first frame waits for no file.

It is themes/ragchat-dark.toml word for word (a test), and serves also where no theme can be read.
"""

from __future__ import annotations

from collections.abc import Mapping

from textual.theme import Theme

DEFAULT = Theme(
    name="ragchat-dark",
    primary="#7dabf8",
    secondary="#8bd5ca",
    accent="#f0b35e",
    foreground="#dfe3ee",
    background="#14161d",
    surface="#191c25",
    panel="#20242f",
    success="#8fce8b",
    warning="#f0b35e",
    error="#f2788f",
    dark=True,
    variables={
        "pane-border": "#636876",
        "pane-border-focus": "#7dabf8",
        "cite": "#f0b35e",
        "quote-background": "#3b3222",
        "quote-style": "none",
        "quiet": "#9aa3b8",
        "block-cursor-background": "#33425E",
        "block-cursor-foreground": "#DFE3EE",
        "block-cursor-text-style": "none",
    },
)

VARIABLES: Mapping[str, str] = {
    "pane-border": "#6b7280",
    "pane-border-focus": "#7aa2f7",
    "cite": "#e0af68",
    "quote-background": "#4a4230",
    "quote-style": "none",
    "quiet": "#8a93a6",
}
"""What our styles use beyond Textual's own variables. A theme may set each under [variables]; what it leaves
out is made from its own colours (these values serve only themes that are not ours)."""

SIXTEEN = "terminal"
"""The theme in the terminal's own sixteen colours, for a terminal that has no others."""


def has_sixteen_colors(environ: Mapping[str, str]) -> bool:
    """Whether the terminal says that it has no more: finer colours would come out as whatever is nearest."""
    term = environ.get("TERM", "")
    fine = environ.get("COLORTERM", "").lower() in ("truecolor", "24bit")
    many = (
        "256" in term or "direct" in term or term.startswith(("xterm-kitty", "alacritty", "foot", "ghostty"))
    )
    return term not in ("", "dumb") and not (fine or many) and "TEXTUAL_COLOR_SYSTEM" not in environ
