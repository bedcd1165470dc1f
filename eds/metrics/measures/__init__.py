"""The kinds of measures, by what they are computed on; eds.metrics.measure.MEASURES names them."""
