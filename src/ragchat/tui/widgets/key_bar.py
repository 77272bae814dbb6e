"""The bottom line: the keys that work where the focus is, each of which can also be clicked."""

from __future__ import annotations

from textual.app import App
from textual.binding import ActiveBinding, Binding
from textual.content import Content
from textual.screen import Screen

from ragchat.tui.keys import CHAT, shown_key
from ragchat.tui.widgets.pressable import PressableLine, pressable

_ORDER = {binding.action: at for at, binding in enumerate(CHAT) if isinstance(binding, Binding)}


def _place(active: ActiveBinding) -> int:
    """The focused pane's own keys first, then the screen's in the order of `keys`, then the app's."""
    binding = active.binding
    if binding.priority and binding.action in _ORDER:
        return _ORDER[binding.action]
    return len(_ORDER) if isinstance(active.node, App) else -1


def _leaves(binding: Binding) -> bool:
    """Whether this is the way out, whatever its key."""
    return bool(binding.description) and (binding.id or "").endswith((".back", ".leave"))


class KeyBar(PressableLine):
    """Keys of the focused pane first; what does not fit is in the help (F1), which always fits.

    A screen's `offers(action)` says whether a key has anything to act on now; others are not shown.
    """

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
        offers = getattr(self.screen, "offers", lambda _action: True)
        escape, help_key = Content(""), Content("")
        keys: list[Content] = []
        seen: set[str] = set()
        for active in sorted(self.screen.active_bindings.values(), key=_place):
            binding = active.binding
            if binding.key == "escape" or _leaves(binding):
                label = getattr(self.screen, "escape_label", binding.description)
                escape = self._key(binding.key, shown_key(binding), label)
            elif binding.action == "help":
                help_key = self._key(binding.key, shown_key(binding), binding.description)
            elif (
                binding.show
                and binding.description
                and binding.description not in seen
                and offers(binding.action)
            ):
                seen.add(binding.description)
                keys.append(self._key(binding.key, shown_key(binding), binding.description))
        return escape, keys, help_key

    @staticmethod
    def _key(key: str, display: str, label: str) -> Content:
        content = Content.assemble((display, "bold $accent"), " ", label)
        return pressable(content, f"app.simulate_key({key!r})")
