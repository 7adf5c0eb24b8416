"""Learning a vocabulary of subwords from sentences, by SentencePiece."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path

import sentencepiece

from attendo.errors import DataError
from attendo.text.subwords.pieces import SPACE_MARK
from attendo.text.subwords.placeholders import placeholder
from attendo.text.subwords.tokenization import EOS_ID, UNK_ID, Tokenizer, TokenizerConfig

# The segmentation does not depend on the number of threads, but the sums inside unigram's EM do: so it is fixed.
_LEARNING_THREADS = 16


def learn_tokenizer(
    sentences: Iterable[str], config: TokenizerConfig, output: Path, *, symbols: Sequence[str] = ()
) -> Tokenizer:
    """Learns a vocabulary and writes it as a plain SentencePiece model file.

    Args:
        sentences: the text to learn from, read once.
        config: the kind and size of the vocabulary.
        output: the model file to write.
        symbols: words that are always a piece each; they follow `</s>`, `<unk>` and the placeholders.

    Returns:
        The tokenizer.

    Raises:
        DataError: the text is empty, or cannot fill the vocabulary, or has too many characters for it; the message
            has the value to set.
    """
    sentencepiece.set_random_generator_seed(config.seed)
    model, learnable = BytesIO(), _Learnable(sentences)
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(learnable),
            model_writer=model,
            model_type=config.type,
            vocab_size=config.vocab_size,
            character_coverage=config.character_coverage,
            byte_fallback=True,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            # A word has the same piece at the start of a sentence as within; decoding removes the space again.
            split_digits=config.split_digits,
            add_dummy_prefix=True,
            eos_id=EOS_ID,
            unk_id=UNK_ID,
            bos_id=-1,
            pad_id=-1,
            user_defined_symbols=[*(placeholder(number) for number in range(1, config.placeholders + 1)), *symbols],
            max_sentence_length=1 << 20,
            num_threads=_LEARNING_THREADS,
            minloglevel=2,
        )
    except RuntimeError as error:
        if learnable.error is not None:
            raise learnable.error from None
        raise DataError(_learning_problem(str(error), config)) from error
    tokenizer = Tokenizer(model.getvalue(), str(output))
    tokenizer.save(output)
    return tokenizer


def learn_symbols(sentences: Iterable[str], output: Path) -> Tokenizer:
    """Makes a vocabulary of all space-separated symbols of some texts, and writes it to a model file.

    Args:
        sentences: the texts, read once.
        output: the model file to write.

    Returns:
        The tokenizer; a symbol that was not in the texts is `<unk>`.

    Raises:
        DataError: there is no text.
    """
    counts = Counter(symbol for sentence in sentences for symbol in sentence.split())
    if not counts:
        raise DataError("there is no text to make the vocabulary of symbols from: no pair was kept")
    model = BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sorted(counts)),
        model_writer=model,
        model_type="word",
        vocab_size=len(counts) + 2,
        character_coverage=1.0,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        add_dummy_prefix=True,
        eos_id=EOS_ID,
        unk_id=UNK_ID,
        bos_id=-1,
        pad_id=-1,
        max_sentence_length=1 << 20,
        num_threads=_LEARNING_THREADS,
        minloglevel=2,
    )
    tokenizer = Tokenizer(model.getvalue(), str(output))
    tokenizer.save(output)
    return tokenizer


class _Learnable:
    """Sentences as SentencePiece can learn from them, and the error that reading them ended with.

    SentencePiece turns every exception of its iterator, also Ctrl-C, into a RuntimeError with a text.
    """

    def __init__(self, sentences: Iterable[str]) -> None:
        self._sentences = sentences
        self.error: BaseException | None = None

    def __iter__(self) -> Iterator[str]:
        try:
            for sentence in self._sentences:
                yield sentence.replace(SPACE_MARK, " ")  # it would be learned as a space
        except BaseException as error:
            self.error = error
            raise


def _learning_problem(message: str, config: TokenizerConfig) -> str:
    """Explains SentencePiece's message in our terms."""
    if found := re.search(r"too high.* value <= (\d+)", message):
        return (
            f"tokenizer.vocab_size = {config.vocab_size}: the text is too small for so many pieces; "
            f"set it to {found[1]} or less"
        )
    if found := re.search(r"smaller than required_chars\. \d+ vs (\d+)", message):
        return (
            f"tokenizer.vocab_size = {config.vocab_size}: the text's characters alone need {found[1]}; set it to more "
            f"than {found[1]}, or tokenizer.character_coverage below {config.character_coverage}"
        )
    if "sentences_.empty()" in message:
        return "there is no text to learn the vocabulary from: no pair was kept"
    return f"SentencePiece cannot learn the vocabulary: {message}"
