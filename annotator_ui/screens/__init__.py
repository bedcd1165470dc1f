"""The screens, one file each; see annotator_ui/screen.py."""
