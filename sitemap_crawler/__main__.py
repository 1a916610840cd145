from __future__ import annotations

from sitemap_crawler.cli import main

if __name__ == "__main__":
    main()
