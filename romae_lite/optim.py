"""Muon (Jordan et al., 2024; Liu et al., 2025): orthogonalised Nesterov momentum.

The same arithmetic as `torch.optim.Muon`, which takes one matrix after the other and
rounds to bfloat16, for which most CPUs have no instructions. Here all matrices of one
shape go together, in float32.
"""

import torch
from torch import Tensor

COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # of a quintic that moves numbers towards 1


class Muon(torch.optim.Optimizer):
    """For matrices only; with decoupled weight decay.

    A step is 0.2 sqrt(longer side) lr times the orthogonalised momentum, about as large
    as AdamW's, so that one learning rate serves both.
    """

    def __init__(
        self, matrices, lr: float, weight_decay: float = 0.1, momentum: float = 0.95
    ):
        defaults = {"lr": lr, "weight_decay": weight_decay, "momentum": momentum}
        super().__init__(matrices, defaults)

    @torch.no_grad()
    def step(self, closure=None) -> None:
        for group in self.param_groups:
            shapes: dict[torch.Size, list[Tensor]] = {}
            for p in group["params"]:
                if p.grad is not None:
                    shapes.setdefault(p.shape, []).append(p)
            for shape, matrices in shapes.items():
                gradients = [p.grad for p in matrices]
                for p in matrices:
                    if not self.state[p]:
                        self.state[p]["momentum_buffer"] = torch.zeros_like(p)
                momenta = [self.state[p]["momentum_buffer"] for p in matrices]
                torch._foreach_lerp_(momenta, gradients, 1 - group["momentum"])
                ahead = torch._foreach_lerp(gradients, momenta, group["momentum"])
                updates = orthogonalise(torch.stack(ahead)).unbind()
                torch._foreach_mul_(matrices, 1 - group["lr"] * group["weight_decay"])
                scale = -0.2 * max(shape) ** 0.5 * group["lr"]
                torch._foreach_add_(matrices, updates, alpha=scale)


def orthogonalise(stack: Tensor, steps: int = 5) -> Tensor:
    """Bring singular values near 1, by Newton-Schulz: (K, m, n) -> same, float32."""
    x = stack.float()
    if x.shape[1] > x.shape[2]:
        return orthogonalise(x.mT, steps).mT
    a, b, c = COEFFICIENTS
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)  # no value above 1
    for _ in range(steps):
        gram = x @ x.mT
        polynomial = torch.baddbmm(gram, gram, gram, beta=b, alpha=c)
        x = torch.baddbmm(x, polynomial, x, beta=a)
    return x
