"""Backbone families: each module loads the models of one library; its function `load` takes a `Request`."""
