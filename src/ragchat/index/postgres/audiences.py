"""Which database role may see which document, told by the folder it lies in."""

from __future__ import annotations

from collections.abc import Sequence

from ragchat.errors import UsageError


class Audiences:
    """Rules "prefix=role": the longest prefix of a document's name counts; "" is everybody who may read.

    False where there are no rules: then nothing is said about documents that others have put in.
    Raises UsageError for what is no rule.
    """

    def __init__(self, rules: Sequence[str]) -> None:
        self._roles: dict[str, str] = {}
        for rule in rules:
            prefix, equals, role = rule.partition("=")
            if not equals:
                raise UsageError(
                    f"index.audiences: {rule!r} is no rule", hint='write "folder/=role", as in board/=board'
                )
            self._roles[prefix.strip()] = role.strip()

    def __bool__(self) -> bool:
        return bool(self._roles)

    def role_of(self, name: str) -> str:
        """The role that may see this document."""
        fitting = [prefix for prefix in self._roles if name.startswith(prefix)]
        return self._roles[max(fitting, key=len)] if fitting else ""
