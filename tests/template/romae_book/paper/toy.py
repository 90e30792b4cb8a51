"""What the paper would say of the slope; the number is made up."""

from .claim import SQUARED, table

CLAIMS = tuple(
    table(
        "Toy table", "Slopes",
        dict(experiment="toy", metric="mse", **SQUARED),  # how far apart two numbers may be and count as the same
        (("MSE", {}),),
        (("RoMAE", {}, "0.001"),),
    )
)
