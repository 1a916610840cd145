"""The videos of a page, by source: elements, schema.org, embeds, Open Graph."""
