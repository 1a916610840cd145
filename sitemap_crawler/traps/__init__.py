"""Sites without end: what addresses show, how many of them parameters can make, what pages turn out to be."""
