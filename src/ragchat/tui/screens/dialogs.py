"""The dialogs and pages that a key of the main screen opens, each imported when it is asked for."""

from __future__ import annotations

from ragchat.tui.screens.parts import ChatParts


class OpensDialogs(ChatParts):
    """The part of the main screen that only opens others."""

    def action_switch_folder(self) -> None:
        """Choose another folder."""
        from ragchat.tui.commands import choose_folder

        choose_folder(self.ragchat)

    def action_pick_model(self) -> None:
        """Choose the model."""
        from ragchat.tui.commands import choose_model

        choose_model(self.ragchat)

    def action_pick_theme(self) -> None:
        """Choose the theme."""
        from ragchat.tui.commands import choose_theme

        choose_theme(self.ragchat)

    def action_settings(self, name: str = "") -> None:
        """Every setting, the cursor on the named one."""
        from ragchat.tui.screens.settings import SettingsScreen

        self.app.push_screen(SettingsScreen(self.ragchat.settings, name))

    def action_show_index(self) -> None:
        """The index: its documents by state."""
        from ragchat.tui.commands import show_index

        show_index(self.ragchat)

    def action_calibrate(self) -> None:
        """The threshold against the collected questions."""
        from ragchat.tui.commands import calibrate

        calibrate(self.ragchat)

    def action_reindex(self) -> None:
        """Read what changed; rebuild when the index is stale."""
        self.ragchat.reindex()
