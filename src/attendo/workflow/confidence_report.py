"""The quality of confidences on a test set, as text."""

from attendo.workflow.confidence import ConfidenceQuality


def report(measured: ConfidenceQuality, close: float) -> str:
    """Formats the results on a test set.

    Args:
        measured: the measurement.
        close: chrF2 from which a translation counts as close.
    """
    found, without = measured.confidence, measured.token_probability
    how = "learned from it, each sentence judged by the others" if measured.learned_from else "not learned from"
    lines = [
        f"{measured.name} ({how}; {measured.kernel})",
        f"{found.sentences:,} different sentences, {found.share:.1%} of whose translations come close to a person's "
        f"(chrF2 of {close:g} or more); mean confidence {found.confidence:.1%}",
        f"calibration error {found.error:.3f}; {without.error:.3f} without, by token probabilities; without fault it "
        f"would be up to {found.error_by_chance:.3f} by chance",
        f"ranking {_number(found.ranking)}; {_number(without.ranking)} without",
    ]
    if measured.people is not None:
        lines.append(
            f"{measured.people:.1%} of people's translations come as close to another person's, of "
            f"{measured.people_sentences:,} sentences that have both"
        )
    lines.append("confidence  came close  95%             sentences")
    lines += [
        f"{bin_.confidence:10.1%}  {bin_.share:10.1%}  {bin_.low:6.1%}-{bin_.high:6.1%}  {bin_.count:9,}"
        for bin_ in found.bins
    ]
    return "\n".join(lines)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"
