"""What the paper would say of the slope; the number is made up."""

from .claim import table

CLAIMS = tuple(
    table(
        "Toy table", "Slopes",
        dict(experiment="toy", metric="mse"),
        (("MSE", {}),),
        (("RoMAE", {}, "0.001"),),
    )
)
