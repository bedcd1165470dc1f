"""Engines: the same tasks in this process, in several processes, or on a cluster; the same bytes from each.

    with start(settings) as engine:                 # settings: section [engine] of eds.toml
        for receipt in engine.map(function, specs): # a receipt for each output, as it comes
            ...

`Site` joins an engine with the settings and the folder that tasks write to. Engines know nothing of stages.
"""

from eds.parallel.executor import ENGINES, Site, start
from eds.parallel.outputs import deliver
from eds.parallel.protocol import Engine, Need, Receipt, Spec, Work

__all__ = ["ENGINES", "Engine", "Need", "Receipt", "Site", "Spec", "Work", "deliver", "start"]
