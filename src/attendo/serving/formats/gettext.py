"""PO files of gettext, read and written by translate-toolkit: messages without a translation get one."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from translate.lang.data import languages as plural_rules
from translate.storage.pypo import pofile

from attendo.errors import DataError
from attendo.serving.formats.document import Languages, TranslatedUnit, Unit

_SAMPLE = 4_000


@dataclass(eq=False)
class PoDocument:
    """A file of messages."""

    store: Any
    _open: list[Any] = field(default_factory=list)

    def units(self, languages: Languages) -> Sequence[Unit]:
        """The messages without a translation, each form of a plural by itself."""
        del languages
        self._open = [each for each in self._messages() if not any(_targets(each)) or each.isfuzzy()]
        return [Unit(text=text) for each in self._open for text in _sources(each)]

    def source_language(self) -> str | None:
        """PO files do not say."""
        return None

    def sample(self) -> str:
        """The beginning of the messages."""
        texts = (str(each.source) for each in self._messages())
        return "\n".join(text for text, _ in zip(texts, range(200), strict=False))[:_SAMPLE]

    def written(self, translations: Sequence[TranslatedUnit], languages: Languages) -> bytes:
        """With translations; those that could not keep something are marked as fuzzy and say why."""
        self.store.updateheader(add=True, Language=languages.target)
        forms = self._plural_forms(languages.target)
        remaining = iter(translations)
        for message in self._open:
            found = [next(remaining) for _ in _sources(message)]
            if len(found) == 1:
                message.target = found[0].text
            else:
                # The first form of most languages is the singular; every other one is made of the plural.
                message.target = [found[0].text, *[found[1].text] * (forms - 1)] if forms > 1 else [found[1].text]
            problems = [problem for each in found for problem in each.problems]
            message.markfuzzy(bool(problems))
            for problem in dict.fromkeys(problems):
                message.addnote(f"attendo: {problem}", origin="translator")
        return bytes(self.store)

    def _messages(self) -> list[Any]:
        return [each for each in self.store.units if each.istranslatable() and not each.isobsolete() and each.source]

    def _plural_forms(self, target: str) -> int:
        nplurals, rule = self.store.getheaderplural()
        if nplurals and str(nplurals).isdigit() and 0 < int(nplurals) <= 10:
            return int(nplurals)
        _, count, rule = plural_rules.get(target, ("", 2, "n != 1"))
        if not 0 < count <= 10:
            count, rule = 2, "n != 1"
        self.store.updateheader(add=True, Plural_Forms=f"nplurals={count}; plural={rule};")
        return int(count)


def read_po(content: bytes) -> PoDocument:
    """Reads a PO file, or a POT file.

    Raises:
        DataError: it is none.
    """
    store = pofile()
    try:
        store.parse(content)
    except Exception as error:  # whatever the library meets in a stranger's file
        raise DataError(f"the document is no PO file: {str(error)[:200]}") from error
    if not store.units:
        raise DataError("the document is no PO file, or has no messages")
    return PoDocument(store)


def _sources(message: Any) -> list[str]:
    if message.hasplural():
        return [str(each) for each in message.source.strings][:2]
    return [str(message.source)]


def _targets(message: Any) -> list[str]:
    if message.hasplural():
        return [str(each) for each in getattr(message.target, "strings", [message.target])]
    return [str(message.target)]
