"""Networks run by OpenVINO on the CPU: the same numbers as torch, 2 to 7 times faster.

The graph is compiled for one image, and the images of a batch run on as many streams as the library
chooses. So a vector does not depend on the rest of its batch, to the bit; it is the fastest way too,
because layers stay in the cache.
"""

import sys
import threading
import warnings
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from eds.backbones.preprocessing import Preprocessing
from eds.backbones.spec import BackboneSpec
from eds.backbones.vectors import check_batch, finish
from eds.errors import InputError

if TYPE_CHECKING:
    from eds.backbones.on_torch import Normalised

WAITING = 2  # requests per stream: the next one is ready, so no stream waits for Python
HINTS = {"float32": "f32", "bfloat16": "bf16", "float16": "f16"}


class OpenVinoRunner:
    """One network, compiled."""

    name = "openvino"

    def __init__(self, model: Any, precision: str, threads: int | None) -> None:
        """Compile an OpenVINO model from uint8 (1, side, side, 3) to float32 (1, dimension)."""
        openvino = library()
        hints: dict[str, Any] = {"INFERENCE_PRECISION_HINT": HINTS[precision], "PERFORMANCE_HINT": "THROUGHPUT"}
        if threads is not None:
            hints["INFERENCE_NUM_THREADS"] = threads
            hints["ENABLE_CPU_PINNING"] = False  # all processes would pin to the same cores
        compiled = openvino.Core().compile_model(model, "CPU", hints)
        _check_precision(compiled, precision)
        streams = int(compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
        self._requests = [compiled.create_infer_request() for _ in range(WAITING * streams)]
        self._tensor = openvino.Tensor
        self.dimension = int(compiled.output(0).partial_shape[1].get_length())
        self._lock = threading.Lock()

    def run(self, batch: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """The network's output, float32 (n, dimension), for uint8 (n, side, side, 3)."""
        batch = np.require(batch, requirements=["C", "W"])  # memory that OpenVINO shares may not be read-only
        output = np.empty((len(batch), self.dimension), dtype=np.float32)
        with self._lock:
            try:
                for row, request in zip(range(len(batch)), cycle(self._requests)):
                    request.wait()
                    request.set_input_tensor(self._tensor(batch[row : row + 1], shared_memory=True))
                    request.set_output_tensor(self._tensor(output[row : row + 1], shared_memory=True))
                    request.start_async()
            finally:
                for request in self._requests:
                    request.wait()
        return output


class OpenVinoBackbone:
    """An image encoder that OpenVINO runs without torch."""

    def __init__(self, spec: BackboneSpec, runner: OpenVinoRunner) -> None:
        self.spec, self._runner = spec, runner

    def encode(self, batch: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """uint8 (n, side, side, 3) to float32 (n, dimension)."""
        check_batch(batch, self.spec.preprocessing.side)
        if not len(batch):
            return np.empty((0, self.spec.dimension), dtype=np.float32)
        return finish(self._runner.run(batch), self.spec)


def on_bytes(model: Any, steps: Preprocessing, *, channels_last: bool = False) -> Any:
    """A model of normalised images as one of bytes, uint8 (1, side, side, 3); its first layer normalises."""
    openvino = library()
    builder = openvino.preprocess.PrePostProcessor(model)
    image = builder.input()
    image.tensor().set_element_type(openvino.Type.u8).set_layout(openvino.Layout("NHWC"))
    scale, shift = [255 * value for value in steps.std], [255 * value for value in steps.mean]
    image.preprocess().convert_element_type(openvino.Type.f32).mean(shift).scale(scale)
    image.model().set_layout(openvino.Layout("NHWC" if channels_last else "NCHW"))
    builder.output().tensor().set_element_type(openvino.Type.f32)
    return builder.build()


def library() -> Any:
    """Import OpenVINO without its telemetry."""
    if "openvino" not in sys.modules:
        sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
    import openvino

    return openvino


def of_network(network: "Normalised", side: int) -> Any:
    """The torch network as an OpenVINO model for one image."""
    import torch

    openvino = library()
    example = torch.zeros((2, side, side, 3), dtype=torch.uint8)
    try:
        with torch.inference_mode(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the tracer; the result is compared with that of torch afterwards
            model = openvino.convert_model(network.eval(), example_input=example)
    except (RuntimeError, TypeError, ValueError, openvino.frontend.OpConversionFailure) as error:
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise InputError(
            f"OpenVINO cannot run this network ({reason[:200]})", hint="Choose --runtime torch, which is slower."
        ) from error
    model.reshape(openvino.PartialShape([1, side, side, 3]))
    return model


def _check_precision(compiled: Any, precision: str) -> None:
    used = compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name()
    if used != HINTS[precision]:
        raise InputError(
            f"this processor has no {precision}: OpenVINO would use {used}", hint="Choose another precision."
        )
