"""Validation while a run trains: perplexity, and BLEU or F1 by decoding with the model to be shipped at that moment."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from attendo.checkpoint.weights import load_weights
from attendo.decoding.backends.models import decoding_model
from attendo.decoding.config import GuardConfig, SearchConfig
from attendo.decoding.lines.translator import Translator
from attendo.errors import DataError
from attendo.evaluation.scores import Score, corpus_bleu
from attendo.model.products import fast_float32_products
from attendo.model.transformer import Transformer
from attendo.parsing.config import ParsingConfig
from attendo.parsing.treebank import parse_tree
from attendo.text.batching import plan_epoch
from attendo.text.prepared import VALID_TREES, PreparedData
from attendo.training.config import TrainingConfig
from attendo.training.hooks import Validation
from attendo.training.passes.forward import collate_for
from attendo.training.update import batch_loss
from attendo.workflow.engines.parse import Parse, Parser
from attendo.workflow.engines.parse_input import sentence_of
from attendo.workflow.evaluation.parse_scores import score_parses

_MAX_TOKENS = 4096
_LINES_AT_ONCE = 500
"""Number of translations or trees after which a validation can be stopped."""
_PARSED = 1000
"""Number of validation sentences that are parsed if the recipe does not set it."""


class Validator:
    """Validates weights on a prepared folder's validation set.

    Args:
        model: a model of the shape of the trained one; its weights are overwritten.
        prepared: has a validation set.
        training: whether BLEU, or F1, is wanted, of how many sentences, and the dtype.
        search: the search settings; guards are off, since the model itself is measured; a parser searches greedily.
        parsing: a parser's linearization of trees; None for a translator.

    Raises:
        DataError: F1 is wanted, and the prepared folder has no trees.
    """

    def __init__(
        self,
        model: Transformer,
        prepared: PreparedData,
        training: TrainingConfig,
        search: SearchConfig,
        parsing: ParsingConfig | None = None,
    ) -> None:
        assert prepared.valid is not None, "a validator needs a validation set"
        self._model, self._prepared, self._pairs = model.eval(), prepared, prepared.valid
        self._training, self._parsing = training, parsing
        self._search = replace(search, guards=GuardConfig.off())
        limit = training.eval_sentences or (len(prepared.valid_source) if parsing is None else _PARSED)
        self._chosen = spread(len(prepared.valid_source), limit)
        if parsing is not None and training.eval_bleu and not prepared.valid_trees:
            raise DataError(
                f"{prepared.folder}: has no {VALID_TREES}, as folders of earlier versions; prepare the data again, or "
                "leave F1 out with --set training.eval_bleu=false"
            )

    def __call__(self, weights: Mapping[str, Tensor], should_stop: Callable[[], bool]) -> Validation | None:
        """Perplexity, and BLEU or F1 if the recipe enables it, with these weights.

        Args:
            weights: the weights of one process by name.
            should_stop: called from time to time.

        Returns:
            The results; None if stopped.
        """
        load_weights(self._model, weights, self._prepared.folder)
        with torch.no_grad(), fast_float32_products(self._model.device):
            log_loss = self._log_loss(should_stop)
            if log_loss is None:
                return None
            if not self._training.eval_bleu:
                return Validation(log_loss=log_loss, bleu=None)
            if self._parsing is not None:
                return self._with_f1(log_loss, self._parsing, should_stop)
            bleu = self._bleu(should_stop)
            if bleu is None:
                return None
            return Validation(log_loss=log_loss, bleu=bleu.score, bleu_signature=bleu.signature)

    def _log_loss(self, should_stop: Callable[[], bool]) -> float | None:
        """Nats a target token, or a drafter's proposal, without smoothing and in float32; None if stopped."""
        pairs, device = self._pairs, self._model.device
        longest = int(max(pairs.source_lengths.max(), pairs.target_lengths.max()))
        budget = max(_MAX_TOKENS, longest)
        plan = plan_epoch(pairs.source_lengths, pairs.target_lengths, max_tokens=budget, seed=0, epoch=0)
        total, num_tokens = 0.0, 0
        for indices in plan.batches:
            if should_stop():
                return None
            source, target = [pairs.source(int(i)) for i in indices], [pairs.target(int(i)) for i in indices]
            batch = collate_for(self._model)(source, target).to(device)
            loss = batch_loss(self._model, batch, "float32", 0.0)
            total += float(loss.log_loss)
            num_tokens += loss.num_tokens
        return total / max(1, num_tokens)

    def _bleu(self, should_stop: Callable[[], bool]) -> Score | None:
        prepared = self._prepared
        # Built again each time, since the native kernels pack the weights.
        translator = Translator(
            [decoding_model(self._model)],
            prepared.source_tokenizer,
            prepared.target_tokenizer,
            self._search,
            threads=torch.get_num_threads(),
        )
        translations: list[str] = []
        for first in range(0, len(self._chosen), _LINES_AT_ONCE):
            if should_stop():
                return None
            lines = [prepared.valid_source[index] for index in self._chosen[first : first + _LINES_AT_ONCE]]
            translations += [translation.text for translation in translator.translate(lines)]
        return corpus_bleu(
            translations,
            [prepared.valid_target[index] for index in self._chosen],
            target_language=prepared.target_language,
        )

    def _with_f1(self, log_loss: float, parsing: ParsingConfig, should_stop: Callable[[], bool]) -> Validation | None:
        prepared = self._prepared
        parser = Parser(
            [decoding_model(self._model)],
            prepared.source_tokenizer,
            prepared.target_tokenizer,
            replace(self._search, beam_size=1, n_best=1, beam_groups=1),
            parsing,
            word_tags=prepared.word_tags,
            threads=torch.get_num_threads(),
        )
        gold = [parse_tree(prepared.valid_trees[index]) for index in self._chosen]
        parses: list[Parse] = []
        for first in range(0, len(gold), _LINES_AT_ONCE):
            if should_stop():
                return None
            trees = gold[first : first + _LINES_AT_ONCE]
            parses += parser.parse_sentences([sentence_of(tree, tags=parsing.needs_tags) for tree in trees])
        found = score_parses(gold, parses)
        signature = ["COLLINS.prm", "a failed parse as recall 0", "greedy", *(["gold tags"] * parsing.needs_tags)]
        count = f"{len(gold):,} of {len(prepared.valid_trees):,}" if len(gold) < len(prepared.valid_trees) else "all"
        return Validation(
            log_loss=log_loss,
            bleu=None,
            f1=found.every_sentence.f1,
            f1_signature=", ".join([*signature, f"{count} sentences"]),
        )


def spread(number: int, limit: int) -> Sequence[int]:
    """Returns a limited number of indices, spread evenly.

    Args:
        number: number of items.
        limit: maximum number of chosen items, at least 1.
    """
    return range(number) if number <= limit else [place * number // limit for place in range(limit)]
