"""Computes the logits of the models of families.py with numpy in f64, position by position, without a cache."""

import numpy as np
from families import CONTEXT, HEADS, KV, LAYERS, WIDTH


def norm(x, weight):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weight


def frequencies(o, w, layer, capacity):
    """Angle per position of each pair, and the magnitude; None without RoPE in this layer."""
    size = o["head_size"]
    if o.get("no_rope") and (layer + 1) % o["no_rope"] == 0:
        return None, 1
    i = np.arange(size // 2)
    if o.get("local") and slides(o, layer):
        return o.get("local_base", 500.0) ** (-2 * i / size), 1
    f, magnitude = o.get("base", 10000.0) ** (-2 * i / size), 1
    if o.get("factors"):
        f = f / w["rope_freqs.weight"]
    if o.get("long"):
        f = f / w[f"rope_factors_{'long' if capacity > CONTEXT // 2 else 'short'}.weight"]
        magnitude = 1.1
    kind, factor = o.get("scaling", ("", 1))
    if kind == "linear":
        f = f / factor
    if kind == "yarn":
        # Pairs that turn more than 32 times in the original context keep their angle, those that turn less than once are
        # divided; the rest is mixed.
        original = CONTEXT / factor
        bound = [
            size * np.log(original / (turns * 2 * np.pi)) / (2 * np.log(10000.0))
            for turns in (32, 1)
        ]
        low, high = max(0, np.floor(bound[0])), min(size - 1, np.ceil(bound[1]))
        keep = 1 - np.clip((i - low) / max(0.001, high - low), 0, 1)
        f = f / factor * (1 - keep) + f * keep
        magnitude = 1 + 0.1 * np.log(factor)
    return f, magnitude


def slides(o, layer):
    if "windowed" in o:
        return layer in o["windowed"]
    return "window" in o and (o["period"] == 0 or layer % o["period"] < o["period"] - 1)


def rotate(o, w, x, layer, capacity):
    """Rotates x [tokens, heads, size]."""
    f, magnitude = frequencies(o, w, layer, capacity)
    if f is None:
        return x
    angle = np.arange(len(x))[:, None, None] * f
    c, s = np.cos(angle) * magnitude, np.sin(angle) * magnitude
    y = np.empty_like(x)
    half = x.shape[-1] // 2
    a, b = (
        (slice(0, None, 2), slice(1, None, 2))
        if o.get("neighbours")
        else (
            slice(0, half),
            slice(half, None),
        )
    )
    y[..., a] = x[..., a] * c - x[..., b] * s
    y[..., b] = x[..., a] * s + x[..., b] * c
    return y


def attention(o, w, x, layer, capacity):
    p, size, tokens = f"blk.{layer}.", o["head_size"], len(x)
    if o.get("fused"):
        parts = np.split(
            x @ w[p + "attn_qkv.weight"].T, [HEADS * size, (HEADS + KV) * size], axis=1
        )
    else:
        parts = [x @ w[p + f"attn_{n}.weight"].T + w.get(p + f"attn_{n}.bias", 0) for n in "qkv"]
    q, k = (y.reshape(tokens, -1, size) for y in parts[:2])
    v = parts[2].reshape(tokens, KV, -1)
    if o.get("qk_norms"):
        q, k = norm(q, w[p + "attn_q_norm.weight"]), norm(k, w[p + "attn_k_norm.weight"])
    q, k = rotate(o, w, q, layer, capacity), rotate(o, w, k, layer, capacity)
    out = np.empty((tokens, HEADS, v.shape[-1]))
    for t in range(tokens):
        first = max(0, t + 1 - o["window"]) if slides(o, layer) else 0
        for h in range(HEADS):
            g = h * KV // HEADS
            scores = k[first : t + 1, g] @ q[t, h] / np.sqrt(o.get("scalar", size))
            if o.get("caps"):
                scores = o["caps"][0] * np.tanh(scores / o["caps"][0])
            e = np.exp(scores - scores.max())
            out[t, h] = e / e.sum() @ v[first : t + 1, g]
    return out.reshape(tokens, -1) @ w[p + "attn_output.weight"].T


def feed_forward(o, w, x, layer):
    p = f"blk.{layer}."
    if o.get("fused"):
        gate, up = np.split(x @ w[p + "ffn_up.weight"].T, 2, axis=1)
    else:
        gate, up = x @ w[p + "ffn_gate.weight"].T, x @ w[p + "ffn_up.weight"].T
    if o.get("gelu"):
        gate = gate * 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (gate + 0.044715 * gate**3)))
    else:
        gate = gate / (1 + np.exp(-gate))
    return (gate * up) @ w[p + "ffn_down.weight"].T


def logits(o, w, ids, capacity):
    w = {k: np.asarray(v, np.float64) for k, v in w.items()}
    x = w["token_embd.weight"][ids] * (np.sqrt(WIDTH) if o.get("scaled") else 1)
    for layer in range(LAYERS):
        p = f"blk.{layer}."
        y = attention(o, w, norm(x, w[p + "attn_norm.weight"]), layer, capacity)
        x = x + (norm(y, w[p + "post_attention_norm.weight"]) if o.get("post") else y)
        y = feed_forward(o, w, norm(x, w[p + "ffn_norm.weight"]), layer)
        x = x + (norm(y, w[p + "post_ffw_norm.weight"]) if o.get("post") else y)
    y = norm(x, w["output_norm.weight"]) @ w.get("output.weight", w["token_embd.weight"]).T
    return o["caps"][1] * np.tanh(y / o["caps"][1]) if o.get("caps") else y
