"""Each pipeline collects one kind of observation from a page and can be switched off alone; the last one stores it.

They import their readers with the first page that is read: a run in which nothing has changed needs none of them.
"""
