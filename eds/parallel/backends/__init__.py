"""Where tasks run, one file each: every module's class `Backend` does the tasks it is given (`eds.parallel.protocol`).

Its constructor takes the settings of section [executor]; used as a context, leaving it ends every process it started.
"""
