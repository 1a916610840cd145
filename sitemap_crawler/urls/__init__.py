"""URLs: normalisation, scope, the public address, spellings."""
