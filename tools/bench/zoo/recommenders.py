"""Recommendation networks, which no listing contains: as in their papers, with the sizes of public implementations for the Criteo data set (26 categorical
and 13 numerical features)."""

import torch
from torch import nn

CATEGORIES, NUMBERS = 26, 13


def mlp_tower(*sizes):
    return nn.Sequential(
        *(part for a, b in zip(sizes, sizes[1:]) for part in (nn.Linear(a, b), nn.ReLU()))
    )


class EmbeddingBase(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.words, self.width = words, width
        self.tables = nn.ModuleList(nn.Embedding(words, width) for _ in range(CATEGORIES))

    def embedded(self, categories):
        return torch.stack([table(categories[:, i]) for i, table in enumerate(self.tables)], 1)


class DlrmNet(EmbeddingBase):
    """DLRM (Naumov et al. 2019): a recommendation network with the dot products of all pairs of embeddings."""

    def __init__(self):
        super().__init__(20000, 64)
        self.bottom, self.top = (
            mlp_tower(NUMBERS, 512, 256, 64),
            mlp_tower(64 + 27 * 26 // 2, 512, 256),
        )
        self.last = nn.Linear(256, 1)
        self.register_buffer("pairs", torch.tril_indices(27, 27, -1))

    def forward(self, numbers, categories):
        dense = self.bottom(numbers)
        all = torch.cat([dense[:, None], self.embedded(categories)], 1)
        dots = torch.bmm(all, all.transpose(1, 2))[:, self.pairs[0], self.pairs[1]]
        return torch.sigmoid(self.last(self.top(torch.cat([dense, dots], 1))))


class DeepFmNet(EmbeddingBase):
    """DeepFM (Guo et al. 2017): a recommendation network with a factorization machine and a deep network in parallel."""

    def __init__(self):
        super().__init__(20000, 16)
        self.first = nn.ModuleList(nn.Embedding(20000, 1) for _ in range(CATEGORIES))
        self.linear, self.deep = (
            nn.Linear(NUMBERS, 1),
            mlp_tower(CATEGORIES * 16 + NUMBERS, 400, 400, 400),
        )
        self.last = nn.Linear(400, 1)

    def forward(self, numbers, categories):
        e = self.embedded(categories)
        first = sum(table(categories[:, i]) for i, table in enumerate(self.first)) + self.linear(
            numbers
        )
        second = 0.5 * (e.sum(1) ** 2 - (e**2).sum(1)).sum(1, keepdim=True)
        return torch.sigmoid(
            first + second + self.last(self.deep(torch.cat([e.flatten(1), numbers], 1)))
        )


class DcnNet(EmbeddingBase):
    """DCN-V2 (Wang et al. 2021): a recommendation network with low-rank cross layers, followed by a deep network."""

    def __init__(self):
        super().__init__(20000, 16)
        width = CATEGORIES * 16 + NUMBERS
        self.down, self.up = (
            nn.ModuleList(nn.Linear(width, 64, bias=False) for _ in range(3)),
            nn.ModuleList(nn.Linear(64, width) for _ in range(3)),
        )
        self.deep, self.last = mlp_tower(width, 768, 768), nn.Linear(768, 1)

    def forward(self, numbers, categories):
        x0 = x = torch.cat([self.embedded(categories).flatten(1), numbers], 1)
        for down, up in zip(self.down, self.up):
            x = x0 * up(down(x)) + x
        return torch.sigmoid(self.last(self.deep(x)))


class TwoTowerNet(nn.Module):
    """A two-tower recommendation network: attention over a user's last 50 items, scored against 1,000 candidates."""

    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(50000, 64)
        self.attend, self.norm = nn.MultiheadAttention(64, 4, batch_first=True), nn.LayerNorm(64)
        self.user, self.item = mlp_tower(64, 256, 64), mlp_tower(64, 256, 64)

    def forward(self, history, candidates):
        x = self.items(history)
        x = self.norm(x + self.attend(x, x, x, need_weights=False)[0]).mean(1)
        user, item = self.user(x), self.item(self.items(candidates))
        return torch.softmax((item @ user[:, :, None])[:, :, 0] / 8, -1)


CRITEO = {"numbers": ("float", [NUMBERS]), "categories": (20000, [CATEGORIES])}


def Dlrm():
    return DlrmNet(), CRITEO


def DeepFm():
    return DeepFmNet(), CRITEO


def Dcn():
    return DcnNet(), CRITEO


def TwoTower():
    return TwoTowerNet(), {"history": (50000, [50]), "candidates": (50000, [1000])}
