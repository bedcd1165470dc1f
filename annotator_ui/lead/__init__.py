"""What the lead's screens are made of: pieces of HTML, figures computed once, the parts of longer screens."""
