"""From files and lists to the table `images`: readers, a scan of the files, duplicates, roles, contact sheets."""
