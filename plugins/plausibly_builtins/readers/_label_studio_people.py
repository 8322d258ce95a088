"""Label Studio: who answered; the number 3 and the object with id 3 are one person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from plausibly_builtins.readers._label_studio_tasks import ID, Entry, text_of

_EMAIL = "email"
_FIELDS = ("completed_by", "user", "created_by")


@attrs.frozen
class People:
    """Names of annotators: their id where the export knows it, else their e-mail address."""

    ids: Mapping[str, str]

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> People:
        """Return the ids behind the addresses that some entries give together."""
        found: dict[str, str] = {}
        for entry in entries:
            for field in _FIELDS:
                person = entry.fields.get(field)
                if isinstance(person, dict):
                    address, known = text_of(person.get(_EMAIL)), text_of(person.get(ID))
                    if address and known:
                        found[address] = known
        return cls(found)

    def name(self, entry: Entry) -> str | None:
        """Return the name of who made an entry; None where it does not say."""
        for field in _FIELDS:
            person = entry.fields.get(field)
            if isinstance(person, dict):
                person = text_of(person.get(ID)) or person.get(_EMAIL)
            name = text_of(person)
            if name:
                return self.ids.get(name, name)
        return None
