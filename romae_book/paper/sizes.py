"""What the paper says of its sizes (Tables 8 and 14)."""

from .claim import table

CLAIMS = (
    *table(
        "Table 8", "Parameters",
        dict(experiment="sizes", metric="parameters", better="equal", exponent=6, unit="M",
             note="counted as the paper does: encoder, a projection of 16 values, [CLS], a head with one output"),
        (("parameters", {}),),
        (
            ("tiny-shallow", dict(size="tiny-shallow"), "0.782"),
            ("tiny", dict(size="tiny"), "4.67"),
            ("small", dict(size="small"), "26.9"),
            ("base", dict(size="base"), "74.7"),
            ("pendulum (Table 14)", dict(size="pendulum", exponent=3, unit="K"), "37.4"),
        ),
    ),
)

PROTOCOL = {
    "sizes": (
        {
            "source": "Table 8", "only": ("size", "parameters"),
            "settings": {"size": "tiny", "parameters": "4.67M"},
            "remarks": {"parameters": "tiny's; the other sizes are below"},
        },
    ),
}
