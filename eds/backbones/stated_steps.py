"""The preprocessing of a model file that does not state its own: from the options, never guessed."""

from eds.backbones.preprocessing import Preprocessing
from eds.backbones.request import Request
from eds.errors import InputError

NEEDED = ("resize", "interpolation", "mean", "std")


def stated_steps(request: Request, side: int | None) -> Preprocessing:
    """The preprocessing that the options state; `side` is that of the model's input, if it is fixed."""
    missing = [name for name in NEEDED if not request.options_named(name)]
    if side is None and not request.options_named("size"):
        missing.append("size")
    if missing:
        raise InputError(
            f"unknown preprocessing: the file does not state {', '.join(missing)}",
            where=request.text,
            hint="Add them as in the training, for example ?resize=shortest&size=256&crop=224&interpolation=bicubic"
            "&mean=0.485,0.456,0.406&std=0.229,0.224,0.225.",
        )
    steps = request.preprocessing(Preprocessing("squash", side or 1, "bilinear", None, "RGB", (0,) * 3, (1,) * 3))
    if side is not None and steps.side != side:
        raise InputError(
            f"the model takes {side} x {side} pixels, the options make {steps.side} x {steps.side}",
            where=request.text,
            hint=f"Add crop={side}, or size={side} without a crop.",
        )
    return steps
