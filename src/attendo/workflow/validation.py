"""Validation while a run trains: perplexity and BLEU by real decoding of the model one would ship at that moment."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import torch
from torch import Tensor

from attendo.checkpoint.weights import load_weights
from attendo.decoding.config import GuardConfig, SearchConfig
from attendo.decoding.engine import Translator
from attendo.decoding.models import decoding_model
from attendo.evaluation.scores import Score, corpus_bleu
from attendo.model.products import fast_float32_products
from attendo.model.transformer import Transformer
from attendo.text.batching import plan_epoch
from attendo.text.prepared import PreparedData
from attendo.training.config import TrainingConfig
from attendo.training.forward import collate_for
from attendo.training.hooks import Validation
from attendo.training.update import batch_loss

_MAX_TOKENS = 4096
_LINES_AT_ONCE = 500
"""Between so many translations a validation can be stopped."""


class Validator:
    """Validates weights on a prepared folder's validation set.

    Args:
        model: of the shape of the one that trains; its weights are overwritten.
        prepared: has a validation set.
        training: whether BLEU is wanted, and the dtype.
        search: how to translate; without guards, since it is the model that is measured.
    """

    def __init__(
        self, model: Transformer, prepared: PreparedData, training: TrainingConfig, search: SearchConfig
    ) -> None:
        assert prepared.valid is not None, "a validator needs a validation set"
        self._model, self._prepared, self._pairs = model.eval(), prepared, prepared.valid
        self._training = training
        self._search = replace(search, guards=GuardConfig.off())

    def __call__(self, weights: Mapping[str, Tensor], should_stop: Callable[[], bool]) -> Validation | None:
        """Perplexity, and BLEU where the recipe asks for it, with these weights.

        Args:
            weights: by name, those of one process.
            should_stop: asked now and then.

        Returns:
            What was found; None where it was to stop.
        """
        load_weights(self._model, weights, self._prepared.folder)
        with torch.no_grad(), fast_float32_products(self._model.device):
            log_loss = self._log_loss(should_stop)
            if log_loss is None:
                return None
            if not self._training.eval_bleu:
                return Validation(log_loss=log_loss, bleu=None)
            bleu = self._bleu(should_stop)
            if bleu is None:
                return None
            return Validation(log_loss=log_loss, bleu=bleu.score, bleu_signature=bleu.signature)

    def _log_loss(self, should_stop: Callable[[], bool]) -> float | None:
        """Nats a target token, or a drafter's proposal, without smoothing and in float32; None where it was to stop."""
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
        # Made anew each time, since the native kernels pack the weights.
        translator = Translator(
            [decoding_model(self._model)],
            prepared.source_tokenizer,
            prepared.target_tokenizer,
            self._search,
            threads=torch.get_num_threads(),
        )
        translations: list[str] = []
        for first in range(0, len(prepared.valid_source), _LINES_AT_ONCE):
            if should_stop():
                return None
            lines = prepared.valid_source[first : first + _LINES_AT_ONCE]
            translations += [translation.text for translation in translator.translate(lines)]
        return corpus_bleu(
            translations,
            self._prepared.valid_target,
            target_language=self._prepared.target_language,
        )
