"""Table `embeddings`: vectors of the images by each model, computed here or brought in."""
