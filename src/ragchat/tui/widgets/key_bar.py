"""The bottom line: the keys that work where the focus is, each of which can also be clicked."""

from __future__ import annotations

from textual.content import Content
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget

from ragchat.tui.keys import shown_key


class KeyBar(Widget):
    """Keys of the focused pane first; what does not fit is in the help (F1), which always fits."""

    def on_mount(self) -> None:
        """Follow the focus."""
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, _screen: Screen[object]) -> None:
        self.refresh()

    def render(self) -> Content:
        """As many keys as fit, the way out at the right."""
        width = self.size.width
        escape, keys, help_key = self._keys()
        tail = Content("  ").join(part for part in (help_key, escape) if part.cell_length)
        line = Content(" ")
        for key in keys:
            if line.cell_length + key.cell_length + 2 + tail.cell_length + 1 > width:
                continue
            line = Content.assemble(line, key, "  ")
        gap = max(0, width - line.cell_length - tail.cell_length - 1)
        return Content.assemble(line, " " * gap, tail).truncate(width)

    def _keys(self) -> tuple[Content, list[Content], Content]:
        escape, help_key = Content(""), Content("")
        keys: list[Content] = []
        label = getattr(self.screen, "escape_label", "Back")
        seen: set[str] = set()
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if binding.action in seen:
                continue
            seen.add(binding.action)
            if "escape" in binding.key.split(","):
                escape = self._key("escape", "esc", label)
            elif binding.action == "help":
                help_key = self._key(binding.key, shown_key(binding), binding.description)
            elif binding.show and binding.description:
                keys.append(self._key(binding.key.split(",")[0], shown_key(binding), binding.description))
        return escape, keys, help_key

    @staticmethod
    def _key(key: str, display: str, label: str) -> Content:
        click = Style.from_meta({"@click": f"app.simulate_key({key!r})"})
        return Content.assemble((display, "bold $accent"), " ", label).stylize(click)
