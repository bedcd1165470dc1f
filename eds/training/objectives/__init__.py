"""What training optimises: relaxed ranking measures (TALR) and hashing losses (DSH and its dispersed forms)."""
