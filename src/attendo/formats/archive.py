"""Documents that are ZIP archives: the files in them that hold text, as one file."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain

from attendo.formats.encoded import EncodedText
from attendo.formats.file import File, Languages, Result, SlotEditor, Unit, WriteOptions
from attendo.formats.zip_parts import ZipParts


@dataclass(frozen=True, kw_only=True)
class ArchiveFile(File):
    """An archive that was read.

    The id of a unit begins with the name of its member, and its spans are those of the member's text. `text` has the
    archive's bytes and no text.
    """

    archive: ZipParts
    members: Mapping[str, File]
    """The members that hold text, or name the language, by their names in the archive."""

    def write(self, results: Mapping[str, Result], options: WriteOptions | None = None) -> bytes:
        """The archive with results in it; unchanged members are copied as packed.

        Raises:
            DataError: the archive is damaged, or a member's encoding lacks a character.
            ValueError: a result is for no unit of the archive, for one that must not change, or of other forms.
        """
        if not results:
            return self.archive.content
        by_member: dict[str, dict[str, Result]] = {name: {} for name in self.members}
        for unit_id, found in results.items():
            member, mark, inner_id = unit_id.rpartition("/")
            if not mark or member not in by_member:
                raise ValueError(f"{unit_id!r} is not a unit of the file that may be translated")
            by_member[member][inner_id] = found
        written = {name: self.members[name].written(found, options) for name, found in by_member.items()}
        changed = {name: data for name, data in written.items() if data != self.members[name].text.content}
        return self.archive.with_parts(changed)

    def byte_spans(self) -> list[tuple[int, int]]:
        """No spans: the bytes of an archive are compressed; each member has spans of its own."""
        return []


def archive_file(name: str, archive: ZipParts, members: Mapping[str, File]) -> ArchiveFile:
    """Makes a file of an archive.

    Args:
        name: the name of the format.
        archive: the archive.
        members: the files in it that have been read, by name, in the order of their units.
    """
    units = chain.from_iterable(_named(member, file.units) for member, file in members.items())
    declared = (file.declared for file in members.values() if file.declared != Languages())
    return ArchiveFile(
        format=name,
        text=EncodedText(content=archive.content, text="", encoding="utf-8"),
        units=tuple(units),
        editor=SlotEditor({}),
        declared=next(declared, Languages()),
        archive=archive,
        members=members,
    )


def _named(member: str, units: tuple[Unit, ...]) -> list[Unit]:
    return [replace(unit, id=f"{member}/{unit.id}") for unit in units]
