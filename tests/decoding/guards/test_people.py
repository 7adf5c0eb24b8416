"""Whom a text names, and whether a translation names them: examples by hand."""

import pytest

from attendo.decoding.guards.people import people


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Dear Mr. Smith, the others left.", ["Smith"]),
        ("I asked Dr. Anna Weber and Mrs O'Brien.", ["Anna Weber", "O'Brien"]),
        ("Angela Müller wohnt in Berlin.", ["Angela Müller"]),
        ("Herrn Jean-Luc Picard", ["Jean-Luc Picard"]),
        ("Frau Dr. Schmidt", ["Schmidt"]),
        ("La voiture d'Anna Lefèvre et celle de Mme Dupont-Moretti", ["Anna Lefèvre", "Dupont-Moretti"]),
        ("M. Bernard est là.", ["Bernard"]),
        ("Ludwig van Beethoven was deaf.", ["Ludwig van Beethoven"]),
        ("Anna Lena Weber Smith", ["Anna Lena Weber"]),
        # No title, none who is known, no name, or one that is translated.
        ("The Miller's house, New York, M Bernard", []),
        ("Anna, Weber and Thomas", []),
        ("MR. SMITH IS HERE", []),
        ("Mary Brown", []),
        ("Mr. 47 and Mrs. who", []),
        ("", []),
    ],
)
def test_people_stand_behind_titles_and_given_names(text: str, found: list[str]) -> None:
    persons = people(text)
    assert [person.text for person in persons] == found
    assert [text[person.start : person.end] for person in persons] == found


@pytest.mark.parametrize(
    ("text", "language", "written", "lost"),
    [
        ("Mr. Smith called.", "en", "Herr Smith hat angerufen.", False),
        ("Mr. Smith's car", "en", "Das Auto von Herrn Smith", False),
        ("Anna Weber's car", "en", "Anna Webers Auto", False),
        ("Anna Jones’ Auto", "de", "Anna Jones's car", False),
        ("Mr. Smith called.", "en", "Herr Schmied hat angerufen.", True),
        ("Mr. Smith called.", "en", "Herr Smithson hat angerufen.", True),
        ("Anna Weber called.", "en", "Anna hat angerufen.", True),
        ("Frau Müller rief an.", "de", "Mrs. Miller called.", True),
        ("Anna Müller rief an.", "de", "Accidents called.", True),
        # A noun, for all that one can tell.
        ("Er gab Anna Wasser.", "de", "He gave Anna water.", False),
        ("Er gab Anna Müller Wasser.", "de", "He gave Anna Muller water.", True),
        ("Ludwig van Beethoven", "en", "Ludwig von Beethoven", False),
    ],
)
def test_a_name_is_lost_where_a_word_of_it_is(text: str, language: str, written: str, lost: bool) -> None:
    [person] = people(text)
    assert person.is_lost(written, language) is lost
