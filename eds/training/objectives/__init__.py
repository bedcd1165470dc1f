"""The objectives of training: relaxed ranking measures (TALR) and hashing losses (DSH and its dispersed forms)."""
