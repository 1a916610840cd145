"""Sites whose pages need a browser, each with the truth about every URL, written from the source of the site."""
