"""Test sets perturbed: which lines, what goes with them, and that chance is repeatable."""

import pytest

from attendo.evaluation.perturbations import Perturbation, is_kept, perturb, perturbations, without_inserted

SOURCES = ["The tea is cold.", "", "Who left?", "no end", "I wrote 250 letters.", "Sit down!", "He's away."]
REFERENCES = ["Der Tee ist kalt.", "", "Wer ging?", "kein Ende", "Ich schrieb 250 Briefe.", "Setz dich!", "Er ist weg."]


def named(name: str) -> Perturbation:
    [found] = [each for each in perturbations("en", "de") if each.name == name]
    return found


def test_each_has_its_own_name_and_applies_to_something_here() -> None:
    names = [each.name for each in perturbations("en", "de")]
    assert len(set(names)) == len(names)
    for perturbation in perturbations("en", "de"):
        lines = perturb(perturbation, SOURCES, REFERENCES, seed=1)
        assert lines, perturbation.name
        for line in lines:
            before = " ".join(SOURCES[place] for place in line.lines)
            assert before.strip()
            assert line.source != before or len(line.lines) > 1


def test_the_same_seed_perturbs_the_same_and_another_one_otherwise() -> None:
    for name in ("a typo", "number", "URL"):
        first, again, other = (perturb(named(name), SOURCES, REFERENCES, seed=seed) for seed in (1, 1, 2))
        assert first == again
        assert first != other


def test_only_whole_sentences_are_joined_and_a_rest_is_left_out() -> None:
    # Lines 0, 2, 4, 5 and 6 end with . ? or !
    [first, second] = perturb(named("2 sentences"), SOURCES, REFERENCES, seed=1)
    assert (first.lines, second.lines) == ((0, 2), (4, 5))
    assert first.source == "The tea is cold. Who left?"
    assert first.reference == "Der Tee ist kalt. Wer ging?"
    [only] = perturb(named("4 sentences"), SOURCES, REFERENCES, seed=1)
    assert only.lines == (0, 2, 4, 5)


def test_amounts_need_two_languages_whose_way_is_known() -> None:
    assert "amount" in [each.name for each in perturbations("en", "de")]
    assert "amount" not in [each.name for each in perturbations("en", "fi")]
    assert "amount" not in [each.name for each in perturbations()]


@pytest.mark.parametrize(
    ("name", "output", "kept", "rest"),
    [
        ("URL", "Der Tee ist kalt. {0}", True, "Der Tee ist kalt."),
        ("URL", "{0} Der Tee ist kalt.", False, "Der Tee ist kalt."),
        ("URL", "Der Tee ist kalt. {0} {0}", True, "Der Tee ist kalt. {0}"),
        ("URL", "Der Tee ist kalt.", False, "Der Tee ist kalt."),
        ("number", "Der Tee {0} ist kalt.", True, "Der Tee ist kalt."),
        ("markup", "<b>Der Tee ist kalt.</b>", True, "Der Tee ist kalt."),
        ("markup", "<b></b>Der Tee ist kalt.", False, "Der Tee ist kalt."),
        ("upper case", "DER TEE", None, "DER TEE"),
    ],
)
def test_what_was_put_in_is_looked_for_and_taken_out(name: str, output: str, kept: bool | None, rest: str) -> None:
    perturbation = named(name)
    line = perturb(perturbation, SOURCES, REFERENCES, seed=1)[0]
    output, rest = (text.replace("{0}", line.kept[0] if line.kept else "") for text in (output, rest))
    assert without_inserted(perturbation, line, output) == rest
    if kept is not None:
        assert is_kept(perturbation, line, output) is kept
