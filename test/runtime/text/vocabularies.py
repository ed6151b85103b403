"""Compares tokenizers that are built from random vocabularies with the library `tokenizers`.

usage: vocabularies.py TOOL FOLDER

The tokenizers are written into FOLDER. The texts have all code points that Unicode 3.2 assigned and whose category has not changed.
"""

import json
import os
import random
import subprocess
import sys
import unicodedata

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?"
    r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CORPUS = [
    "The quick brown fox isn't JUMPING over 1234567 lazy dogs.",
    "def main(argc, argv):\n    return  argc == 2 and argv[1] != ''\n\n\n",
    "Größe, naïve café, İstanbul, ﬁne ２３, Ὀδυσσεύς, привет мир, 你好世界, こんにちは, 한국어, हिन्दी",
    "\t tabs\r\n  and   spaces \u3000 x\u00a0y 🙂🙃 e\u0301 ½ ²",
]


def texts():
    """Generates sample texts, and texts with 200 of the assigned code points each."""
    draw = random.Random(5)
    yield from CORPUS
    yield from [
        "",
        " ",
        "  a",
        "<s>a</s> b",
        "a<mask> b",
        "don't DON'T",
        "#" * 50,
        "\n" * 9,
        "x<s>",
    ]
    characters = "".join(CORPUS)
    for size in range(1, 300):
        yield "".join(draw.choice(characters) for _ in range(size % 60 + 1))
    # Later versions of Unicode differ between libraries.
    stable = unicodedata.ucd_3_2_0.category
    assigned = [
        chr(c)
        for c in range(1, 0x110000)
        if stable(chr(c)) not in ("Cn", "Cs", "Co")
        and stable(chr(c)) == unicodedata.category(chr(c))
    ]
    for begin in range(0, len(assigned), 200):
        yield " ".join(assigned[begin : begin + 200])
        yield "a".join(assigned[begin : begin + 200])


def train(tokenizer, trainer):
    tokenizer.train_from_iterator(CORPUS * 3, trainer)
    return tokenizer


def byte_level(split):
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(split), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    train(
        made, trainers.BpeTrainer(vocab_size=420, initial_alphabet=alphabet, special_tokens=["<s>"])
    )
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 0)]
    )
    made.add_tokens([AddedToken("<mask>", lstrip=True), AddedToken("quick", single_word=True)])
    return made


def gpt2():
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return train(made, trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet))


def characters():
    """Returns a BPE tokenizer over characters with byte fallback, like those of Llama 2 and Gemma."""
    names = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    made = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    made.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    train(made, trainers.BpeTrainer(vocab_size=500, special_tokens=names, limit_alphabet=60))
    # The trainer marks the byte tokens as special.
    data = json.loads(made.to_str())
    data["added_tokens"] = [t for t in data["added_tokens"] if t["id"] < 3]
    made = Tokenizer.from_str(json.dumps(data))
    made.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    return made


def word_piece(lowercase):
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[UNK]", "[CLS]", "[SEP]"]
    train(made, trainers.WordPieceTrainer(vocab_size=400, special_tokens=special))
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return made


def unigram():
    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    made.decoder = decoders.Metaspace(prepend_scheme="first")
    return train(
        made, trainers.UnigramTrainer(vocab_size=200, unk_token="<unk>", special_tokens=["<unk>"])
    )


def steps():
    """Returns a tokenizer with the remaining normalizers and pre-tokenizers."""
    made = Tokenizer(models.BPE(unk_token="?"))
    made.normalizer = normalizers.Sequence(
        [normalizers.NFD(), normalizers.StripAccents(), normalizers.Strip(), normalizers.NFC()]
    )
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.WhitespaceSplit(),
            pre_tokenizers.Punctuation("merged_with_previous"),
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.Split("a", "merged_with_next"),
            pre_tokenizers.Split(Regex("[o-s]+"), "contiguous"),
        ]
    )
    return train(made, trainers.BpeTrainer(vocab_size=150, special_tokens=["?"]))


def main():
    tool, folder = sys.argv[1:3]
    made = {
        "llama3": byte_level(LLAMA3),
        "tekken": byte_level(TEKKEN),
        "gpt2": gpt2(),
        "characters": characters(),
        "cased": word_piece(False),
        "uncased": word_piece(True),
        "unigram": unigram(),
        "steps": steps(),
    }
    wrong = 0
    samples = list(texts())
    lines = "".join(json.dumps(text) + "\n" for text in samples)
    for name, tokenizer in made.items():
        path = os.path.join(folder, name + ".json")
        tokenizer.save(path)
        out = subprocess.run(
            [tool, "encode", path], input=lines, stdout=subprocess.PIPE, text=True
        ).stdout
        answers = [json.loads(line) for line in out.split("\n") if line]
        if len(answers) != len(samples):
            print(f"{name}: {out[:300]}")
            wrong += 1
            continue
        ids = texts_wrong = 0
        for text, got in zip(samples, answers):
            want = tokenizer.encode(text).ids
            if want[:2] == [0, 0] and name in ("llama3", "tekken"):
                want = want[1:]  # a BOS token in the text is not doubled
            if got.get("ids") != want:
                ids += 1
                if ids <= 2:
                    print(f"{name}: {text[:80]!r}\n  got:  {str(got)[:300]}\n  want: {want[:80]}")
            elif "decoder" in json.loads(tokenizer.to_str()) and tokenizer.decoder is not None:
                if got["text"] != tokenizer.decode(want, skip_special_tokens=False):
                    texts_wrong += 1
                    if texts_wrong <= 2:
                        back = tokenizer.decode(want, skip_special_tokens=False)
                        print(
                            f"{name}: decode {text[:60]!r}\n  got:  {got['text'][:120]!r}\n  want: {back[:120]!r}"
                        )
        print(
            f"{name}: {len(samples) - ids} of {len(samples)} equal, {texts_wrong} decoded differently"
        )
        wrong += ids + texts_wrong
    return int(wrong != 0)


if __name__ == "__main__":
    sys.exit(main())
