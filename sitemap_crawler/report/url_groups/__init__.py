"""Groups of URLs by pattern, such as `/tag/*`: a million URLs in a few lines."""
