"""Drawing: the shapes, fabrics and settings of seven categories of garments, as studio views and as snapshots."""
