"""The command `validate`, which joins the validator with the crawl and the inventory."""
