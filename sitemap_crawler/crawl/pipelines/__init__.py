"""Item pipelines: extraction of facts from a page, storage of the observation, and the manager that calls them."""
