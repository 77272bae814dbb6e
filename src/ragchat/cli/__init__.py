"""The command line: it prints, it never decides."""
