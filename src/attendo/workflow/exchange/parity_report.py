"""The report that verifies that a model gives the same results elsewhere, and its sample of sentences."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from attendo.checkpoint.model_folder import LoadedModel
from attendo.errors import DataError
from attendo.evaluation.scores import corpus_bleu
from attendo.interop.parity import FLOAT32_TOLERANCE, INT8_MEAN_TOLERANCE, Parity, ParityError
from attendo.text.subwords.tokenization import EOS_ID, UNK_ID
from attendo.workflow.lines import lines_from, read_pairs

SENTENCES = 500
"""Number of sentences that both sides score and translate."""
MAX_TOKENS = 256
"""Maximum tokens of a sentence; longer ones are replaced by others."""
MAX_BLEU_LOSS = 1.0
"""The most BLEU that int8 may cost on sentences with references."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Sentences that a proof is made on."""

    origin: str
    """The origin of the sentences, for display."""
    sources: tuple[str, ...]
    references: tuple[str, ...] | None = None
    """Their translations, if available."""


SampleSource = Callable[[str, str], Sample | None]
"""Returns sentences for a source and a target language, or None if it has none for them."""


def read_sample(sentences: Path, references: Path | None) -> Sample:
    """Sentences of a file, one per line, with their translations if another file has them.

    Raises:
        DataError: a file is missing or broken, the two differ in length, or there is no sentence.
    """
    if references is not None:
        sources, targets = read_pairs(sentences, references)
        full = [pair for pair in zip(sources, targets, strict=True) if pair[0].strip()]
    else:
        full = [(line, "") for line in lines_from(sentences) if line.strip()]
    if not full:
        raise DataError(f"{sentences}: no sentence, so nothing to compare; name a file with one sentence per line")
    return Sample(
        origin=str(sentences),
        sources=tuple(pair[0] for pair in full),
        references=None if references is None else tuple(pair[1] for pair in full),
    )


def invented_sample(model: LoadedModel, *, seed: int = 1) -> Sample:
    """Sentences of a model's own pieces, drawn at random: no language, but every part of a vocabulary."""
    generator, tokenizer = random.Random(seed), model.source_tokenizer
    ids = [number for number in range(tokenizer.vocab_size) if number not in (EOS_ID, UNK_ID)]
    texts = (tokenizer.decode(generator.choices(ids, k=generator.randint(3, 30))) for _ in range(20 * SENTENCES))
    lines = (" ".join(text.replace("\ufffd", " ").split()) for text in texts)
    return Sample(
        origin="pieces of its vocabulary drawn at random",
        sources=tuple(islice(dict.fromkeys(line for line in lines if line.isprintable() and line), SENTENCES)),
    )


def chosen(source: SampleSource, model: LoadedModel) -> Sample:
    """The first `SENTENCES` of a source that are not too long; invented ones if it has none.

    Raises:
        DataError: all of them are too long.
    """
    description = model.description
    sample = source(description.source_language, description.target_language) or invented_sample(model)
    lengths = [len(ids) for ids in model.source_tokenizer.encode_batch(sample.sources)]
    config = model.transformer.config
    limit = min(MAX_TOKENS, config.max_positions * 3 // 5 - 10) if config.positions == "learned" else MAX_TOKENS
    kept = [index for index, length in enumerate(lengths) if length <= limit][:SENTENCES]
    if not kept:
        raise DataError(f"{sample.origin}: no sentence has {limit} tokens or fewer; name a file with shorter ones")
    return Sample(
        origin=sample.origin,
        sources=tuple(sample.sources[index] for index in kept),
        references=None if sample.references is None else tuple(sample.references[index] for index in kept),
    )


@dataclass(frozen=True, kw_only=True)
class Bleu:
    """BLEU of both sides' greedy outputs."""

    ours: float
    theirs: float
    signature: str
    by_people: bool
    """Whether the references are translations of the sentences; otherwise they are our own outputs."""

    @property
    def of(self) -> str:
        """A name of the reference."""
        if self.by_people:
            return "against the references"
        return "with the outputs here as the reference, since there is none"

    @property
    def delta(self) -> float:
        """Difference, positive if the other program is better."""
        return self.theirs - self.ours


@dataclass(frozen=True, kw_only=True)
class ParityReport:
    """The whole proof."""

    what: str
    """The object of comparison, such as the folder that was written."""
    origin: str
    """The origin of the sentences."""
    parity: Parity
    exact: bool
    """Whether both sides compute in float32."""
    bleu: Bleu | None
    differing_texts: tuple[str, ...] | None
    """Texts that the other program's tokenizer treats otherwise; None if it takes pieces, and so uses our
    tokenization."""
    remarks: tuple[str, ...]
    """Definitions that differ there."""

    @property
    def problems(self) -> tuple[str, ...]:
        """Returns the reasons why there is no parity; empty if there is."""
        found = self.parity.problems(exact=self.exact)
        # Against its own outputs float32 scores 100, and each sentence that int8 words differently lowers that, better
        # or worse.
        counts = self.bleu is not None and self.bleu.by_people and not self.exact
        if self.bleu is not None and counts and self.bleu.delta < -MAX_BLEU_LOSS:
            found.append(f"BLEU falls by {-self.bleu.delta:.2f}, more than {MAX_BLEU_LOSS:g}")
        if self.differing_texts:
            found.append(
                f"{len(self.differing_texts)} texts are cut into other pieces, such as {self.differing_texts[0]!r}"
            )
        return tuple(found)

    def check(self) -> None:
        """Ends in an error where this is no parity.

        Raises:
            ParityError: the verification failed; the message has the reason.
        """
        if self.problems:
            raise ParityError(f"{self.what}: no parity, so nothing is kept: {'; '.join(self.problems)}")

    def to_text(self) -> str:
        """A few lines to read."""
        parity = self.parity
        allowed = (
            f"largest difference {parity.max_difference:.1e} (allowed {FLOAT32_TOLERANCE:g})"
            if self.exact
            else f"mean difference {parity.mean_difference:.1e} (allowed {INT8_MEAN_TOLERANCE:g}), largest "
            f"{parity.max_difference:.1e}"
        )
        ties = f", {parity.ties} more part at a tie" if parity.ties else ""
        share = 100 * parity.identical / max(1, parity.sentences)
        rows = [
            ("parity", self.what),
            ("here", parity.ours),
            ("there", parity.theirs),
            ("sentences", f"{parity.sentences} from {self.origin}"),
            ("log-prob.", f"{parity.tokens:,} target tokens, {allowed}, in nats"),
            ("greedy", f"{parity.identical} of {parity.sentences} outputs identical ({share:.1f} %){ties}"),
        ]
        if self.bleu is not None:
            figures = f"{self.bleu.ours:.2f} here, {self.bleu.theirs:.2f} there, delta {self.bleu.delta:+.2f}"
            rows += [("BLEU", f"{figures} (greedy, {self.bleu.of})"), ("", self.bleu.signature)]
        if self.differing_texts is not None:
            rows.append(("text", f"{len(self.differing_texts)} texts are cut into other pieces or read back otherwise"))
        rows += [("note", remark) for remark in self.remarks]
        rows.append(("result", f"no parity: {'; '.join(self.problems)}" if self.problems else "parity"))
        return "\n".join(f"{label:<10} {value}" for label, value in rows)


def bleu_of(parity: Parity, sample: Sample, model: LoadedModel) -> Bleu | None:
    """BLEU of both sides' greedy outputs, where there are references; else, if different, of one against the other."""
    decode = model.target_tokenizer.decode
    ours, theirs = ([decode(ids) for ids in side] for side in (parity.our_outputs, parity.their_outputs))
    references: Sequence[str] | None = sample.references
    if references is None:
        if parity.identical == parity.sentences:
            return None
        references = ours
    language = model.description.target_language[:2]
    our_bleu, their_bleu = (corpus_bleu(side, references, target_language=language) for side in (ours, theirs))
    return Bleu(
        ours=our_bleu.score,
        theirs=their_bleu.score,
        signature=our_bleu.signature,
        by_people=sample.references is not None,
    )
