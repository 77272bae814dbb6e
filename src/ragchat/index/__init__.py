"""What is known of a folder: scanned, indexed, stored, searched."""
