"""Names of keys: the words of ours with the spellings they may have, and the keys that can never change a count.

For a Hugging Face or Meta file only its family's row says what a key means; the spellings here are for files of our
own.
"""

from __future__ import annotations

# word of ours -> (the switch it sets, the other spellings a YAML file of ours may use)
WORDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "d_model": ("d_model", ("hidden_size", "n_embd", "dim", "d")),
    "d_ff": ("ffn.d_ff", ("intermediate_size", "ffn_dim", "n_inner", "hidden_dim")),
    "n_layers": ("n_layers", ("num_hidden_layers", "n_layer")),
    "n_heads": ("attention.n_heads", ("num_attention_heads", "n_head")),
    "n_kv_heads": ("attention.n_kv_heads", ("num_key_value_heads",)),
    "d_head": ("attention.d_head", ("head_dim",)),
    "n_vocab": ("n_vocab", ("vocab_size",)),
    "n_experts": ("ffn.n_experts", ("num_local_experts", "n_routed_experts", "num_experts")),
    "top_k": ("ffn.top_k", ("num_experts_per_tok",)),
    "n_shared": ("ffn.n_shared", ("n_shared_experts",)),
    "n_positions": ("positions.n_positions", ("max_position_embeddings",)),
    "tied": ("tied", ("tie_word_embeddings",)),
    "activation": ("ffn.activation", ("hidden_act",)),
}

# The heads that a person may ask for; a class may name others (a next-sentence head), which its family's row knows.
HEADS = ("causal", "mlm", "seq2seq", "pooler", "none")

# What a file of ours may hold beside sizes and switches.
OWN = ("family", "name", "aliases", "source", "published", "head", "layers", "notes")

# Keys that can never change a count, whatever the family, but for those that start or end as below.
_IGNORED = """
    name_or_path model_type architectures auto_map transformers_version torch_dtype dtype use_cache
    eos_token_ids initializer_range initializer_factor initializer_std init_std init_method_std rms_norm_eps
    layer_norm_eps layer_norm_epsilon layernorm_epsilon norm_eps norm_epsilon layernorm_eps
    layer_norm_rms_epsilon attention_dropout hidden_dropout attention_probs_dropout_prob hidden_dropout_prob
    resid_pdrop embd_pdrop attn_pdrop dropout dropout_rate activation_dropout classifier_dropout
    classifier_dropout_prob embedding_dropout resid_dropout embd_dropout attn_dropout ffn_dropout layerdrop
    encoder_layerdrop decoder_layerdrop residual_dropout rotary_dim rotary_pct rotary_emb_base
    partial_rotary_factor rotary_emb_fraction rotary_base original_max_position_embeddings original_rope
    model_max_length max_length min_length max_seq_len max_sequence_length seq_length use_dynamic_ntk
    use_logn_attn hidden_act hidden_activation activation_function pretraining_tp gradient_checkpointing
    quantization_config compression_config torch_compile_config output_attentions output_hidden_states
    return_dict return_dict_in_generate output_past tie_weights_ output_router_logits router_aux_loss_coef
    router_z_loss_coef router_jitter_noise aux_loss_alpha seq_aux ep_size norm_topk_prob scoring_func
    topk_method topk_group n_group routed_scaling_factor route_scale task_specific_params id2label label2id
    num_labels problem_type finetuning_task do_sample temperature top_p num_beams num_return_sequences
    repetition_penalty length_penalty early_stopping no_repeat_ngram_size bad_words_ids suppress_tokens
    begin_suppress_tokens prefix tokenizer_class reorder_and_upcast_attn scale_attn_weights
    scale_attn_by_inverse_layer_idx attn_logit_softcapping final_logit_softcapping logit_scale
    query_pre_attn_scalar attention_multiplier embedding_multiplier residual_multiplier logits_scaling
    scale_embedding use_flash_attn use_flash_attention use_flash_attn_2 flash_attention attn_implementation
    is_encoder_decoder chunk_size_feed_forward swiglu_limit swiglu_alpha clip_qkv embedding_initializer_range
    gating_activation language license tags pruned_heads torchscript use_bfloat16 tf_legacy_loss
    cross_attention_hidden_size bad_words encoder_no_repeat_ngram_size diversity_penalty num_beam_groups
    typical_p remove_invalid_values exponential_decay_length_penalty output_scores unsloth_version use_mrope
    mrope_section fp32_residual_connection apply_residual_connection_post_layernorm use_auth_token revision
    tie_encoder_decoder forced_decoder_ids attn_dropout_prob emb_dropout_prob classif_dropout padding_idx
    init_device is_causal neftune_noise_alpha use_reentrant use_reentrant_checkpointing moe_router_dtype
    is_composition is_llama_config perceiver_config pixel_shuffle_factor num_image_tokens sentence_transformers
    sbert_ce_default_activation_function matryoshka_dimensions image_aspect_ratio cache_implementation
    embed_dropout position_embedding_type normalize_decoder_before static_position_embeddings
"""
_EXACT = frozenset(_IGNORED.split())
# What counts when it is switched on, and what most files state as false.
_IGNORED_WHEN_FALSE = frozenset(
    {"is_decoder", "add_cross_attention", "use_cla", "use_mla", "qk_layer_norms", "use_resampler"}
)
# How such keys start and end: private ones, those of rotary angles, of a summary head, of a tower for pictures (mm),
# and those that name a token.
_STARTS = ("_", "rope_", "summary_", "mm_", "use_mm_", "tune_mm_", "freeze_mm_", "unfreeze_mm_")
_ENDS = ("_token_id", "_token_index")


def never_counts(key: str, value: object) -> bool:
    """Whether `key` (holding `value`) is one of those that can't change a count in any family."""
    if key in _IGNORED_WHEN_FALSE:
        return not value
    return key in _EXACT or key.startswith(_STARTS) or key.endswith(_ENDS)
