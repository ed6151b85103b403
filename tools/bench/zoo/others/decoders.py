"""Decoding steps of transformers: one token with the KV cache of previous tokens, which is returned with the token's own keys and values appended."""

import torch
from torch import nn

from . import Table, floats

NETWORKS = Table("kv-")
SMALL = {
    "vocab_size": 16000,
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 6,
    "num_attention_heads": 16,
}
LLAMA = {**SMALL, "intermediate_size": 2816, "num_key_value_heads": 4}


def get_cache_tensors(cache):
    return [(layer.keys, layer.values) for layer in cache.layers]


class DecodingStep(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, *past):
        from transformers import DynamicCache

        cache = DynamicCache(list(zip(past[::2], past[1::2])))
        position = torch.full((tokens.shape[0], 1), past[0].shape[2], dtype=torch.int64)
        result = self.model(
            input_ids=tokens, past_key_values=cache, position_ids=position, use_cache=True
        )
        return result.logits, get_cache_tensors(result.past_key_values)


class CrossAttentionStep(DecodingStep):
    """A decoding step with cross-attention, which also takes keys and values of an encoder."""

    def forward(self, tokens, *past):
        from transformers import DynamicCache, EncoderDecoderCache

        cache = EncoderDecoderCache(
            DynamicCache(list(zip(past[::4], past[1::4]))),
            DynamicCache(list(zip(past[2::4], past[3::4]))),
        )
        cache.is_updated.update(dict.fromkeys(cache.is_updated, True))
        memory = torch.zeros(tokens.shape[0], past[2].shape[2], self.model.config.d_model)
        whisper = hasattr(self.model, "proj_out")
        more = (
            {"position_ids": torch.full((tokens.shape[0], 1), past[0].shape[2], dtype=torch.int64)}
            if whisper
            else {}
        )
        result = self.model.get_decoder()(
            input_ids=tokens,
            past_key_values=cache,
            encoder_hidden_states=memory,
            use_cache=True,
            **more,
        )
        last = self.model.proj_out if whisper else self.model.lm_head
        return last(result.last_hidden_state), get_cache_tensors(
            result.past_key_values.self_attention_cache
        )


def add_decoding_step(name, kind, past=256, batches=(1,), **config):
    def make():
        import transformers

        c = transformers.CONFIG_MAPPING[kind](**config)
        model = transformers.AutoModelForCausalLM.from_config(
            c, attn_implementation="eager" if kind == "gemma2" else "sdpa"
        )
        heads = getattr(c, "num_key_value_heads", None) or c.num_attention_heads
        shape = [
            heads,
            past,
            getattr(c, "head_dim", None) or c.hidden_size // c.num_attention_heads,
        ]
        states = floats(
            **{f"past_{which}{i}": shape for i in range(c.num_hidden_layers) for which in "kv"}
        )
        return DecodingStep(model), {"tokens": (c.vocab_size, [1]), **states}

    NETWORKS.add(name, make, batches=list(batches))


def add_cross_attention_step(name, kind, layers, heads, memory, **config):
    def make():
        import transformers

        c = getattr(transformers, kind + "Config")(**config)
        shapes = {
            "past_k": [heads, 256, 64],
            "past_v": [heads, 256, 64],
            "cross_k": [heads, memory, 64],
            "cross_v": [heads, memory, 64],
        }
        states = floats(
            **{f"{which}{i}": shape for i in range(layers) for which, shape in shapes.items()}
        )
        return CrossAttentionStep(getattr(transformers, kind + "ForConditionalGeneration")(c)), {
            "tokens": (c.vocab_size, [1]),
            **states,
        }

    NETWORKS.add(name, make)


add_decoding_step("gpt2", "gpt2")
add_decoding_step("llama", "llama", batches=(1, 4), **LLAMA)
add_decoding_step(
    "qwen2",
    "qwen2",
    vocab_size=32000,
    hidden_size=896,
    intermediate_size=4864,
    num_hidden_layers=6,
    num_attention_heads=14,
    num_key_value_heads=2,
)
add_decoding_step(
    "qwen3",
    "qwen3",
    **{
        **SMALL,
        "intermediate_size": 3072,
        "num_hidden_layers": 5,
        "num_key_value_heads": 8,
        "head_dim": 128,
    },
)
add_decoding_step(
    "gemma2",
    "gemma2",
    vocab_size=32000,
    hidden_size=768,
    intermediate_size=3072,
    num_hidden_layers=6,
    num_attention_heads=8,
    num_key_value_heads=4,
    head_dim=128,
    query_pre_attn_scalar=128,
    sliding_window=4096,
)
add_decoding_step("phi", "phi", partial_rotary_factor=0.5, **SMALL)
add_decoding_step(
    "gpt_neox",
    "gpt_neox",
    vocab_size=16000,
    hidden_size=768,
    intermediate_size=3072,
    num_hidden_layers=6,
    num_attention_heads=12,
)
add_cross_attention_step(
    "t5_decoder_step",
    "T5",
    6,
    8,
    256,
    vocab_size=32128,
    d_model=512,
    d_kv=64,
    d_ff=2048,
    num_layers=6,
    num_heads=8,
)
add_cross_attention_step(
    "whisper_decoder_step",
    "Whisper",
    4,
    6,
    1500,
    vocab_size=51865,
    d_model=384,
    encoder_layers=4,
    decoder_layers=4,
    encoder_attention_heads=6,
    decoder_attention_heads=6,
    encoder_ffn_dim=1536,
    decoder_ffn_dim=1536,
)
