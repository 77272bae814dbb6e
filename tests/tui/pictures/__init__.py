"""What is pictured: each walk starts the program once and stops at several places."""
