"""The HTTP side of a request: connection, TLS, proxies, content codings, conditional requests."""
