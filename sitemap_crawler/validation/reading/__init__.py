"""Reading of files that are validated: bytes, XML and text, from the disk and from the web."""
