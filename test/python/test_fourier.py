"""Fourier transforms in graphs that dlc compiles as a whole, compared with PyTorch."""

import copy

import pytest

torch = pytest.importorskip("torch")

import dlc

from torch import fft, nn
from torch.optim import SGD

real, imaginary = torch.view_as_real, torch.complex


def rotated(x):
    return imaginary(x, x.flip(-1))


TRANSFORMS = {
    "rfft": lambda x: fft.rfft(x).abs(),
    "rfft_ortho": lambda x: real(fft.rfft(x, norm="ortho")),
    "rfft_middle": lambda x: real(fft.rfft(x, dim=1)),
    "rfft_odd": lambda x: real(fft.rfft(x[..., :5])),
    "rfft_padded": lambda x: real(fft.rfft(x, n=9)),
    "rfft_one": lambda x: real(fft.rfft(x[..., :1])),
    "rfft2": lambda x: real(fft.rfft2(x, norm="forward")),
    "fft": lambda x: real(fft.fft(x)),
    "fft_complex": lambda x: real(fft.fft(rotated(x), dim=0)),
    "fft2": lambda x: real(fft.fft2(x)),
    "fftn": lambda x: real(fft.fftn(rotated(x))),
    "ifft": lambda x: real(fft.ifft(rotated(x))),
    "ifft_forward": lambda x: real(fft.ifft(rotated(x), norm="forward")),
    "irfft": lambda x: fft.irfft(rotated(x)),
    "irfft_odd": lambda x: fft.irfft(rotated(x), n=11),
    "irfft_one": lambda x: fft.irfft(rotated(x), n=1),
    "irfft2": lambda x: fft.irfft2(fft.rfft2(x) * 2, s=x.shape[-2:]),
    "filter": lambda x: fft.irfft(fft.rfft(x) * torch.arange(4.0)),
    "hfft": lambda x: fft.hfft(rotated(x)),
    "ihfft": lambda x: real(fft.ihfft(x).resolve_conj()),
    "stft": lambda x: real(
        torch.stft(
            x.flatten(0, 1).repeat(1, 6),
            16,
            4,
            window=torch.hann_window(16, dtype=x.dtype),
            return_complex=True,
        )
    ),
}


class Net(nn.Module):
    def __init__(self, transform, dtype=torch.float32):
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.transform = nn.Linear(6, 6, dtype=dtype), transform

    def forward(self, x):
        return self.transform(self.layer(x))


def numbers(dtype=torch.float32):
    return torch.randn(2, 3, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64).to(
        dtype
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name, dtype):
    net, x = Net(TRANSFORMS[name], dtype), numbers(dtype)
    with torch.no_grad():
        wanted = net(x)
    close = 1e-4 if dtype is torch.float32 else 1e-10
    torch.testing.assert_close(dlc.compile(net, (x,))(x), wanted, rtol=close, atol=close)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_steps(name):
    net, x = Net(TRANSFORMS[name]), numbers()
    other = copy.deepcopy(net)
    with torch.no_grad():
        target = torch.ones_like(net(x))
    step, optimizer = (
        dlc.train_step(net, nn.MSELoss(), SGD(net.parameters(), lr=0.02), (x, target)),
        SGD(other.parameters(), lr=0.02),
    )
    for _ in range(3):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(other(x), target)
        loss.backward()
        optimizer.step()
        torch.testing.assert_close(step(x, target), loss.detach(), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(net.state_dict(), other.state_dict(), rtol=1e-4, atol=1e-5)


def test_values():
    class Bare(nn.Module):
        def forward(self, x):
            return real(fft.rfft(x)), fft.irfft(rotated(x), n=4)

    forth, back = dlc.compile(Bare(), (torch.zeros(3),))(torch.tensor([1.0, 2, 4]))
    torch.testing.assert_close(forth, torch.tensor([[7.0, 0], [-2, 3**0.5]]), rtol=1e-6, atol=1e-6)
    # The transform of 1 + 4i, 2 + 2i, 4 + i ignores the imaginary parts of the first and the last frequency.
    torch.testing.assert_close(back, torch.tensor([2.25, -1.75, 0.25, 0.25]), rtol=1e-6, atol=1e-6)


def test_long_transforms_are_refused():
    class Bare(nn.Module):
        def forward(self, x):
            return fft.fft(x).abs()

    with pytest.raises(ValueError, match="_fft_r2c"):
        dlc.compile(Bare(), (torch.zeros(4096),))
