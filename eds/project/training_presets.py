"""Hyperparameters of publications, for `eds training --preset`: they replace what is not given."""

from typing import Any

PRESETS: dict[str, dict[str, Any]] = {  # hyperparameters as printed, or as published with the code
    "dsh": {  # the paper on mLGAP: 750 epochs, batches of 200, 0.01 less 40 % every 150; weight decay of DSH
        "epochs": 750,
        "batch": 200,
        "learning_rate": 0.01,
        "schedule": "0.6@150",
        "optimizer": "sgd",
        "warm_up": 0.0,
        "weight_decay": 0.004,
        "keep": "last",
        "clip": 5.0,
    },
    "talr": {  # tie-aware hashing's code: SGD, 0.1 halved every 10 epochs, weight decay 5e-4
        "epochs": 50,
        "batch": 256,
        "learning_rate": 0.1,
        "schedule": "0.5@10",
        "optimizer": "sgd",
        "warm_up": 0.0,
        "weight_decay": 5e-4,
    },
    "vsd": {"optimizer_momentum": 0.0},  # the paper on discovery: Adam without momentum, betas (0, 0.999)
}
