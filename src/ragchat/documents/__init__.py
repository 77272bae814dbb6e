"""Files become documents: canonical text, sections, blocks, locators; one file per format."""
