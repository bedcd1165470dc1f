"""A catalogue of pictures from a lead's own device, sent one by one into the project."""
