"""The tabs of a campaign, one file each; see annotator_ui/tab.py."""
