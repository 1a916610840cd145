"""The HTML report: facts from the inventory as plain values, and the page that shows them."""
