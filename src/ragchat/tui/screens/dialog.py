"""What all dialogs have in common."""

from __future__ import annotations

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, ScreenResultType


class Dialog(ModalScreen[ScreenResultType]):
    """A dialog answers once: what is typed after that, before it has gone, was meant for nobody.

    Textual would call back a second time, and take away the screen below.
    """

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Answer, and go."""
        return super().dismiss(result) if self.is_active else AwaitComplete()
