"""Sampling orders, one file each: which pairs of a draw are judged first, and with what probability.

An order is a function `deal(work, batch_size, rng)`: it returns the batch of each pair, from 0, and the probability
that the pair was chosen into its batch, given every batch before it.
"""
