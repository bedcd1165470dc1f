"""Engines: the same tasks in this process, in several processes, or on a cluster; the same bytes from each.

    with start(settings) as engine:                 # settings: section [executor] of eds.toml
        for receipt in engine.map(function, specs): # a receipt for each output, as it comes
            ...

`Executor` joins an engine with the settings and the folder that tasks write to. Engines know nothing of stages.
"""

from eds.parallel.executor import Executor, start
from eds.parallel.outputs import deliver
from eds.parallel.protocol import Backend, Receipt, Resources, Spec, Work

__all__ = ["Backend", "Executor", "Receipt", "Resources", "Spec", "Work", "deliver", "start"]
