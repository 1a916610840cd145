"""Worker processes that do tasks in parallel to the process that started them."""
