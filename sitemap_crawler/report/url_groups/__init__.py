"""Groups of URLs by their shape, such as `/tag/*` or `?replytocom=*`, for readers of a report."""
