"""The catalogue of all rules that sitemaps are judged by. The severity of a finding is that of its rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

Severity = Literal["error", "warning"]
Family = Literal[
    "file", "url", "lastmod", "hints", "index", "gzip", "text", "feed",
    "image", "video", "news", "hreflang", "set", "live", "against",
]  # fmt: skip
FAMILIES: dict[Family, str] = {
    "file": "Files and XML",
    "url": "URLs",
    "lastmod": "lastmod",
    "hints": "changefreq and priority",
    "index": "Indexes",
    "gzip": "gzip",
    "text": "Text sitemaps",
    "feed": "RSS and Atom",
    "image": "Images",
    "video": "Videos",
    "news": "News",
    "hreflang": "Language versions",
    "set": "The whole set",
    "live": "The live site",
    "against": "Comparison with a crawl",
}
"""Titles of the families of rules, in the order of the documentation."""


class Rule(NamedTuple):
    """One rule, with the texts that a user reads."""

    id: str
    severity: Severity
    family: Family
    problem: str
    """One sentence: the defect in general."""
    remedy: str
    """One sentence: the action that removes the defect."""
    source: str
    """Author of the requirement."""
    link: str
    """URL of the page with the requirement; empty for a rule of this tool alone."""


class _Page(NamedTuple):
    """A page that states requirements."""

    source: str
    link: str


_PROTOCOL = "https://www.sitemaps.org/protocol.html"
_GOOGLE = "https://developers.google.com/search/docs"
_FORMAT = _Page("sitemaps.org", _PROTOCOL)
_TAGS = _Page("sitemaps.org", f"{_PROTOCOL}#xmlTagDefinitions")
_LOC = _Page("sitemaps.org", f"{_PROTOCOL}#locdef")
_LASTMOD = _Page("sitemaps.org", f"{_PROTOCOL}#lastmoddef")
_CHANGEFREQ = _Page("sitemaps.org", f"{_PROTOCOL}#changefreqdef")
_PRIORITY = _Page("sitemaps.org", f"{_PROTOCOL}#prioritydef")
_ESCAPING = _Page("sitemaps.org", f"{_PROTOCOL}#escaping")
_INDEX = _Page("sitemaps.org", f"{_PROTOCOL}#index")
_OTHER_FORMATS = _Page("sitemaps.org", f"{_PROTOCOL}#otherformats")
_LOCATION = _Page("sitemaps.org", f"{_PROTOCOL}#location")
_EXTENDING = _Page("sitemaps.org", f"{_PROTOCOL}#extending")
_BUILD = _Page("Google", f"{_GOOGLE}/crawling-indexing/sitemaps/build-sitemap")
_LARGE = _Page("Google", f"{_GOOGLE}/crawling-indexing/sitemaps/large-sitemaps")
_IMAGES = _Page("Google", f"{_GOOGLE}/crawling-indexing/sitemaps/image-sitemaps")
_VIDEOS = _Page("Google", f"{_GOOGLE}/crawling-indexing/sitemaps/video-sitemaps")
_NEWS = _Page("Google", f"{_GOOGLE}/crawling-indexing/sitemaps/news-sitemap")
_HREFLANG = _Page("Google", f"{_GOOGLE}/specialty/international/localized-versions")
_CANONICAL = _Page("Google", f"{_GOOGLE}/crawling-indexing/consolidate-duplicate-urls")
_URL_STRUCTURE = _Page("Google", f"{_GOOGLE}/crawling-indexing/url-structure")
_MOBILE = _Page("Google", f"{_GOOGLE}/crawling-indexing/mobile/mobile-sites-mobile-first-indexing")
_VIDEO_SCHEMA = _Page("Google", "https://www.google.com/schemas/sitemap-video/1.1/sitemap-video.xsd")
_RETIRED = _Page("Google", "https://developers.google.com/search/blog/2022/05/spring-cleaning-sitemap-extensions")
_CONSOLE = _Page("Google", "https://support.google.com/webmasters/answer/7451001")
_HTTP_ERRORS = _Page("Google", f"{_GOOGLE}/crawling-indexing/http-network-errors")
_SOFT_404 = _Page("Google", f"{_GOOGLE}/crawling-indexing/http-network-errors#soft-404-errors")
_NOINDEX = _Page("Google", f"{_GOOGLE}/crawling-indexing/block-indexing")
_BING_LASTMOD = _Page(
    "Bing",
    "https://blogs.bing.com/webmaster/february-2023/The-Importance-of-Setting-the-lastmod-Tag-in-Your-Sitemap",
)
_XML = _Page("W3C", "https://www.w3.org/TR/xml/#sec-well-formed")
_URI = _Page("RFC 3986", "https://www.rfc-editor.org/rfc/rfc3986#section-2")
_USERINFO = _Page("RFC 9110", "https://www.rfc-editor.org/rfc/rfc9110#section-4.2.4")
_GZIP = _Page("RFC 1952", "https://www.rfc-editor.org/rfc/rfc1952#section-2")
_ENCODING = _Page("RFC 9110", "https://www.rfc-editor.org/rfc/rfc9110#section-8.4")
_ROBOTS = _Page("RFC 9309", "https://www.rfc-editor.org/rfc/rfc9309#section-2.2")
_TOOL = _Page("this tool", "")


def _rules(family: Family, *rows: tuple[str, Severity, _Page, str, str]) -> Iterator[tuple[str, Rule]]:
    for rule_id, severity, page, problem, remedy in rows:
        yield rule_id, Rule(rule_id, severity, family, problem, remedy, *page)


RULES: dict[str, Rule] = dict([
    *_rules(
        "file",
        ("empty-file", "error", _CONSOLE, "The file has no content.",
         "Write the sitemap again, and look for the reason why its program wrote nothing."),
        ("not-a-sitemap", "error", _BUILD, "The file is none of the formats that search engines read.",
         "Write an XML sitemap, a text file with one URL in each line, an RSS 2.0 feed or an Atom feed."),
        ("wrong-namespace", "error", _TAGS, "The root element is not in the namespace of its format.",
         "Write the namespace exactly as documented: http://www.sitemaps.org/schemas/sitemap/0.9 for a sitemap."),
        ("not-utf-8", "error", _FORMAT, "The file is not encoded as UTF-8.",
         "Save the file as UTF-8, and declare UTF-8 or no encoding."),
        ("encoding-name", "warning", _XML, "The file declares UTF-8 by a name that not all readers know.",
         'Write encoding="UTF-8" in the first line, or no encoding.'),
        ("byte-order-mark", "warning", _TOOL, "The file begins with a byte order mark.",
         "Save the file as UTF-8 without a byte order mark, because some readers do not expect one."),
        ("doctype", "error", _TOOL, "The file has a document type declaration.",
         "Remove the DOCTYPE: a sitemap needs none, and its entities are a danger for readers."),
        ("not-well-formed", "error", _XML, "The file is not well-formed XML.",
         "Correct the XML at the named place, or write the file by a library for XML."),
        ("unescaped-character", "error", _XML, "A character with a meaning in XML stands in a text as it is.",
         "Write & as &amp; and < as &lt; in every text and URL."),
        ("unknown-entity", "error", _XML, "The file uses a name of a character that only HTML knows.",
         "Write the character itself, or its number, as in &#160;."),
        ("control-character", "error", _XML, "The file has a character that XML does not allow.",
         "Remove the control characters from the texts before they are written."),
        ("undeclared-prefix", "error", _XML, "The file uses a prefix that it does not declare.",
         "Declare the namespace of the prefix in the first element of the file."),
        ("text-before-declaration", "error", _XML, "The XML declaration is not the beginning of the file.",
         "Remove everything that stands before <?xml, such as a blank line that a program prints."),
        ("cut-file", "error", _XML, "The file ends before its last element is closed.",
         "Write the file anew as a whole, and check the disk space and the time limit of its program."),
        ("oversized-tag", "error", _TOOL, "A tag or comment is far larger than any that a sitemap needs.",
         "Look for a quotation mark or a > that is missing at the named place."),
        ("nested-too-deep", "error", _TOOL, "Elements are nested far deeper than in any sitemap.",
         "Look for closing tags that are missing at the named place."),
        ("oversized-entry", "error", _TOOL, "One entry has far more elements than any entry needs.",
         "Split the entry, or look for a closing tag that is missing."),
        ("stray-text", "error", _TAGS, "Text stands where only elements are allowed.",
         "Remove the text, or put it into the element to which it belongs."),
        ("unknown-element", "error", _TAGS, "An element of the sitemap namespace has no meaning where it stands.",
         "Correct the name or the namespace of the element, or remove it."),
        ("repeated-element", "error", _TAGS, "An element that may occur once in an entry occurs several times.",
         "Keep one of the elements, and write an entry of its own for each URL."),
        ("empty-sitemap", "error", _CONSOLE, "The file lists nothing.",
         "List at least one URL, or remove the file and its place in the index."),
        ("file-too-large", "error", _INDEX, "The uncompressed file is larger than 50 MiB (52,428,800 bytes).",
         "Split the file into sitemaps of at most 50 MiB and list them in an index."),
        ("too-many-entries", "error", _INDEX, "The file has more than 50,000 entries.",
         "Split the file into sitemaps of at most 50,000 entries and list them in an index."),
        ("unlisted-file", "warning", _INDEX, "A sitemap lies next to an index that does not list it.",
         "List the file in the index, or delete it."),
        ("unreadable", "error", _TOOL, "The file cannot be opened or read.",
         "Check the name and the permissions of the file."),
        ("unreachable", "error", _CONSOLE, "The address does not answer with a sitemap.",
         "Make the address answer with status 200, or correct it where it is listed."),
        ("download-failed", "error", _CONSOLE, "The download of the file ended before its end.",
         "Check the server and its time limits, then validate again."),
        ("redirected", "warning", _CONSOLE, "The address of the sitemap redirects to another one.",
         "List and submit the address to which it redirects."),
        ("content-type", "warning", _CONSOLE, "The server sends a sitemap with the content type of something else.",
         "Send XML as application/xml, a text sitemap as text/plain, and gzip as application/gzip."),
        ("sitemap-disallowed", "warning", _ROBOTS, "The site's robots.txt keeps search engines from reading a sitemap.",
         "Allow the sitemap in robots.txt."),
        ("sitemap-unnamed", "warning", _CONSOLE, "The site's robots.txt does not name the sitemap.",
         "Name its address in robots.txt, in a line that begins with Sitemap:, or submit it to each search engine."),
        ("not-checked", "error", _TOOL,
         "A part of the set was not checked, because the time of the validation was over.",
         "Validate the remaining sitemaps by themselves."),
        ("extension-namespace", "error", _EXTENDING,
         "An extension is in a misspelled namespace, so search engines ignore it.",
         "Write the namespace of the extension exactly as documented."),
        ("unknown-extension-element", "warning", _EXTENDING,
         "An element is not part of the extension that contains it.",
         "Remove the element, or correct its name."),
        ("mobile-retired", "warning", _MOBILE, "Search engines no longer read mobile sitemaps.",
         "Remove <mobile:mobile>, because all pages are read as on a phone."),
    ),
    *_rules(
        "url",
        ("loc-missing", "error", _LOC, "An entry has no URL.",
         "Write one <loc> with the URL of the page, or remove the entry."),
        ("loc-padding", "warning", _LOC, "There is white space around a URL.",
         "Write the URL directly between <loc> and </loc>."),
        ("loc-whitespace", "error", _URI, "A URL contains white space or control characters.",
         "Percent-encode them: a space is %20."),
        ("loc-non-ascii", "error", _ESCAPING, "A URL contains characters that are not ASCII.",
         "Percent-encode the UTF-8 bytes of the characters, and write the host as punycode."),
        ("loc-unescaped", "warning", _URI, "A URL contains characters that RFC 3986 allows only percent-encoded.",
         "Percent-encode the characters; a lone % is %25."),
        ("loc-escaped-twice", "warning", _ESCAPING, "A URL contains a reference such as &amp; after the XML was read.",
         "Escape the URL once: write & as &amp;, not as &amp;amp;."),
        ("loc-not-absolute", "error", _LOC, "A URL is not absolute.",
         "Write the whole URL, beginning with https:// or http://."),
        ("loc-scheme", "error", _LOC, "A URL is neither http nor https.",
         "List only pages that have an http or https URL."),
        ("loc-too-long", "error", _LOC, "A URL has 2,048 characters or more.",
         "Give the page a shorter URL, or remove the entry."),
        ("loc-fragment", "error", _URL_STRUCTURE, "A URL has a fragment, which no search engine indexes.",
         "Remove the # and all after it, and list the page once."),
        ("loc-credentials", "error", _USERINFO, "A URL contains a user name or password.",
         "Remove the part before the @, and change the password, because it is public."),
        ("loc-invalid", "error", _URI, "A URL has a host, port or form that no URL can have.",
         "Correct the URL."),
        ("foreign-origin", "error", _LOCATION, "A URL has another scheme, host or port than its sitemap.",
         "List the URL in a sitemap of its own scheme and host."),
        ("loc-local", "warning", _TOOL, "The URLs of a file lie on a host of a local network.",
         "List the addresses that visitors use, as the option --public-url writes them."),
        ("outside-directory", "error", _LOCATION, "A URL is not below the directory of its sitemap.",
         "Move the sitemap to the root directory of the site, or list the URL in a sitemap above it."),
        ("loc-session-id", "warning", _URL_STRUCTURE, "A URL contains the id of a session.",
         "List the URL without the id, because each session has another one."),
        ("loc-tracking", "warning", _CANONICAL, "A URL contains a parameter that tracks visitors or campaigns.",
         "List the URL without the parameter."),
    ),
    *_rules(
        "lastmod",
        ("lastmod-invalid", "error", _LASTMOD, "A lastmod is not a W3C date.",
         "Write a date such as 2026-01-31, or a time with its zone such as 2026-01-31T18:30:00+00:00."),
        ("lastmod-future", "error", _BUILD, "The date of a change is more than one day in the future.",
         "Write the time at which the content of the page changed."),
        ("lastmod-before-web", "warning", _BUILD, "The date of a change is older than the web.",
         "Leave lastmod out if the time of the last change is unknown."),
    ),
    *_rules(
        "hints",
        ("changefreq-invalid", "error", _CHANGEFREQ, "A changefreq is none of the seven words of the protocol.",
         "Write always, hourly, daily, weekly, monthly, yearly or never in lower case, or leave it out."),
        ("priority-invalid", "error", _PRIORITY, "A priority is not a number from 0.0 to 1.0.",
         "Write a number from 0.0 to 1.0, or leave it out."),
    ),
    *_rules(
        "index",
        ("missing-file", "error", _INDEX, "An index lists a sitemap that is neither in its directory nor below.",
         "Write the file, or remove it from the index."),
        ("nested-index", "error", _CONSOLE, "An index lists another index.",
         "List the sitemaps of the other index directly, or submit both indexes."),
        ("index-names-itself", "error", _CONSOLE, "An index lists itself.",
         "Remove the entry, because an index lists sitemaps only."),
        ("index-child-foreign", "error", _INDEX, "An index lists a sitemap of another scheme, host or port.",
         "List the sitemap in an index of its own site, or name it in the robots.txt of that site."),
        ("index-child-outside", "error", _LARGE, "An index lists a sitemap that is not at or below its directory.",
         "Move the sitemap into the directory of the index or below it, or move the index up."),
        ("index-extension", "warning", _INDEX, "An entry of an index has an extension that only pages may have.",
         "Move the element to the <url> of the page in its sitemap."),
    ),
    *_rules(
        "gzip",
        ("gzip-truncated", "error", _GZIP, "A gzip file ends too early.",
         "Write or upload the file again."),
        ("gzip-corrupt", "error", _GZIP, "A gzip file is damaged.",
         "Write or upload the file again, in binary mode."),
        ("gzip-trailing-garbage", "error", _GZIP, "Other bytes follow the end of the gzip data.",
         "Write the file again, with nothing after the gzip data."),
        ("not-gzip", "error", _GZIP, "A file with a name that ends in .gz is not gzip.",
         "Compress the file, or name it without .gz."),
        ("gzip-name", "warning", _BUILD, "A gzip file has a name that does not end in .gz.",
         "Name the file with .gz at its end, or send it with Content-Encoding: gzip."),
        ("false-encoding", "error", _ENCODING, "A server calls a file compressed (Content-Encoding: gzip) that is not.",
         "Let the server compress the file, or send it without the header Content-Encoding."),
    ),
    *_rules(
        "text",
        ("blank-line", "warning", _OTHER_FORMATS, "A text sitemap has a blank line.",
         "Remove the line, because a text sitemap has nothing but one URL in each line."),
        ("text-name", "warning", _BUILD, "A text sitemap has a name that does not end in .txt.",
         "Name the file with .txt at its end, or write XML."),
    ),
    *_rules(
        "feed",
        ("feed-link-missing", "error", _OTHER_FORMATS, "An entry of a feed has no link.",
         "Write the URL of the page as <link>."),
        ("feed-date-invalid", "error", _OTHER_FORMATS,
         "The date of an entry of a feed is not in the form of its format.",
         "Write <pubDate> as Sat, 31 Jan 2026 18:30:00 +0000 in RSS, and <updated> as 2026-01-31T18:30:00Z in Atom."),
        ("feed-version", "warning", _OTHER_FORMATS, "A feed is RSS of another version than 2.0.",
         "Write RSS 2.0 or Atom 1.0."),
    ),
    *_rules(
        "image",
        ("too-many-images", "error", _IMAGES, "An entry has more than 1,000 images.",
         "List the most important 1,000 images of the page."),
        ("image-loc", "error", _IMAGES, "An image has no single, absolute URL.",
         "Write one <image:loc> with the absolute URL in each <image:image>."),
        ("image-retired", "warning", _RETIRED, "Search engines no longer read this element of an image.",
         "Remove the element; <image:loc> alone is read."),
    ),
    *_rules(
        "video",
        ("video-required", "error", _VIDEOS, "A video lacks a required value.",
         "Write thumbnail_loc, title, description, and content_loc or player_loc, each with the prefix video:."),
        ("video-loc", "error", _VIDEOS, "A URL of a video is not absolute or not valid.",
         "Write the absolute URL of the thumbnail, of the video file or of its player."),
        ("video-loc-is-page", "error", _VIDEOS, "The URL of a video or of its player is the page itself.",
         "Write the URL of the video file as <video:content_loc>, or that of the player as <video:player_loc>."),
        ("video-title", "warning", _VIDEO_SCHEMA, "The title of a video has more than 100 characters.",
         "Shorten the title to 100 characters."),
        ("video-repeated", "error", _VIDEOS, "An element that may occur once in a video occurs several times.",
         "Keep one of the elements, and write a <video:video> of its own for each video."),
        ("video-description", "error", _VIDEOS, "The description of a video has more than 2,048 characters.",
         "Shorten the description to 2,048 characters."),
        ("video-duration", "error", _VIDEOS,
         "The duration of a video is not a whole number of seconds from 1 to 28,800.",
         "Write the duration in seconds, such as 600, or leave it out."),
        ("video-rating", "error", _VIDEOS, "The rating of a video is not a number from 0.0 to 5.0.",
         "Write a number from 0.0 to 5.0, or leave it out."),
        ("video-view-count", "error", _VIDEOS, "The view count of a video is not a whole number.",
         "Write the number of views in digits, or leave it out."),
        ("video-yes-no", "error", _VIDEOS, "A value of a video that must be yes or no is neither.",
         "Write yes or no, or leave it out."),
        ("video-uploader", "error", _VIDEOS, "The uploader of a video is empty or has more than 255 characters.",
         "Write a name of at most 255 characters, or leave it out."),
        ("video-uploader-info", "error", _VIDEOS,
         "The info of an uploader is no URL on the domain of the page.",
         "Write the absolute URL of a page about the uploader on the same domain, or leave info out."),
        ("video-restriction", "error", _VIDEOS,
         "The restriction of a video is no list of countries, or has no relationship.",
         'Write ISO 3166-1 codes such as DE FR, and relationship="allow" or relationship="deny".'),
        ("video-platform", "error", _VIDEOS,
         "The platform of a video has other values than web, mobile and tv, or no relationship.",
         'Write some of web, mobile and tv, and relationship="allow" or relationship="deny".'),
        ("video-tags", "error", _VIDEOS, "A video has more than 32 tags.",
         "Keep the best 32 tags."),
        ("video-date", "error", _VIDEOS, "A date of a video is not a W3C date with a day.",
         "Write a date of the video such as 2026-01-31, or a time with its zone such as 2026-01-31T18:30:00+00:00."),
        ("video-expired", "warning", _VIDEOS, "A video has expired.",
         "Remove the video, or correct its expiration date."),
        ("video-retired", "warning", _RETIRED, "Search engines no longer read this element or attribute of a video.",
         "Remove the element or attribute."),
    ),
    *_rules(
        "news",
        ("too-many-news", "error", _NEWS, "The file has more than 1,000 articles.",
         "Split the file into several news sitemaps and list them in an index."),
        ("news-required", "error", _NEWS, "An article lacks a required value.",
         "Write <news:publication> with name and language, <news:publication_date> and <news:title>."),
        ("news-repeated", "error", _NEWS, "An element that may occur once occurs several times.",
         "Keep one <news:news> in each <url>, and one of each element in it."),
        ("news-language", "error", _NEWS, "The language of a publication is not an ISO 639 code.",
         "Write a code of two or three letters such as en, or zh-cn or zh-tw."),
        ("news-date", "error", _NEWS, "The publication date of an article is not a W3C date with a day.",
         "Write a publication date such as 2026-01-31, or a time with its zone such as 2026-01-31T18:30:00+00:00."),
        ("news-future", "error", _NEWS, "An article is dated more than one day ahead.",
         "Write the time at which the article was first published."),
        ("news-old", "warning", _NEWS, "An article is older than two days.",
         "Remove the article from the news sitemap; it stays in the other sitemaps."),
        ("news-retired", "warning", _NEWS, "Search engines no longer read this element of an article.",
         "Remove the element."),
    ),
    *_rules(
        "hreflang",
        ("alternate-incomplete", "error", _HREFLANG, "A language version lacks rel, hreflang or href.",
         'Write <xhtml:link rel="alternate" hreflang="…" href="…"/>.'),
        ("alternate-rel", "warning", _HREFLANG, "A link has a rel that has no meaning in a sitemap.",
         "Write rel=\"alternate\" for a language version, and remove other links."),
        ("alternate-hreflang", "error", _HREFLANG,
         "A hreflang is no language of ISO 639-1 with an optional script and region.",
         "Write a language such as pt, with its region such as pt-BR or en-GB (not en-UK), or x-default."),
        ("alternate-undocumented", "warning", _HREFLANG, "A hreflang has a code that search engines do not document.",
         "Write a language of two letters (ISO 639-1) and a region of two letters (ISO 3166-1)."),
        ("alternate-href", "error", _HREFLANG, "The href of a language version is not an absolute URL.",
         "Write the whole URL of the language version, beginning with https:// or http://."),
        ("alternate-conflict", "error", _HREFLANG, "One hreflang of a page names two different URLs.",
         "Keep one URL for each language."),
    ),
    *_rules(
        "set",
        ("duplicate-loc", "error", _CANONICAL, "A URL is listed more than once.",
         "List each URL once in the whole set."),
        ("scheme-twin", "warning", _CANONICAL, "A page is listed with http and with https.",
         "List the https URL only, and redirect the other one to it."),
        ("www-twin", "warning", _CANONICAL, "A page is listed with and without www.",
         "List the URL on the host that the site prefers, and redirect the other one to it."),
        ("slash-twin", "warning", _CANONICAL, "A page is listed with and without a slash at the end.",
         "List the URL that the site links to, and redirect the other one to it."),
        ("lastmod-all-equal", "warning", _BING_LASTMOD, "All entries have the same lastmod, so it says nothing.",
         "Write for each page the time at which its content changed, or leave lastmod out."),
        ("lastmod-generated", "warning", _BING_LASTMOD,
         "The lastmod of the entries is the time at which the sitemap was written.",
         "Write the time at which each page changed, not that of the sitemap, or leave lastmod out."),
        ("priority-all-equal", "warning", _PRIORITY, "All entries have the same priority, so it says nothing.",
         "Leave priority out; Google and Bing ignore it."),
        ("index-lastmod-old", "warning", _INDEX, "The lastmod of a sitemap in an index is older than its newest entry.",
         "Write the time at which the sitemap last changed, or leave lastmod out."),
        ("alternate-self", "warning", _HREFLANG, "The language versions of a page do not include the page itself.",
         "Add the page itself with its own language."),
        ("alternate-not-reciprocal", "warning", _HREFLANG,
         "A language version does not name the page that names it, so both are ignored.",
         "Give all language versions of a page the same list of links."),
    ),
    *_rules(
        "live",
        ("live-broken", "error", _HTTP_ERRORS, "A listed URL answers with an error.",
         "Repair the page, or remove its URL from the sitemap."),
        ("live-redirect", "warning", _CONSOLE, "A listed URL redirects to another URL.",
         "List the URL at which the redirects end."),
        ("live-broken-redirect", "error", _HTTP_ERRORS,
         "The redirects of a listed URL end at an error, or never.",
         "Correct the redirect, or remove the URL from the sitemap."),
        ("live-login", "warning", _CONSOLE, "A listed URL redirects to a login.",
         "Remove the URL from the sitemap, or let everybody read the page."),
        ("live-noindex", "error", _NOINDEX, "A listed page must not be indexed by its own directives.",
         "Remove the URL from the sitemap, or remove noindex from the page."),
        ("live-canonical", "warning", _CANONICAL, "A listed page names another URL as its canonical.",
         "List the canonical URL instead."),
        ("live-broken-canonical", "warning", _CANONICAL, "The canonical of a listed page answers with an error.",
         "Correct the canonical of the page."),
        ("live-blocked", "error", _ROBOTS, "The site's robots.txt disallows a listed URL.",
         "Remove the URL from the sitemap, or allow it in robots.txt."),
        ("live-not-a-page", "warning", _BUILD, "A listed URL is not a page.",
         "List pages only, and media by the image and video extensions."),
        ("live-soft-404", "warning", _SOFT_404, "A listed page answers with status 200 and looks like an error page.",
         "Let the page answer with status 404 if it is missing, and remove its URL from the sitemap."),
        ("live-unreachable", "error", _HTTP_ERRORS, "A listed URL does not answer.",
         "Check the server and the name of the host, then validate again."),
        ("live-limited", "warning", _HTTP_ERRORS,
         "The server refuses to answer a listed URL now: it has had too many requests.",
         "Raise the limit of the server for this check, or lower --concurrency and give --delay; then validate again."),
        ("live-lastmod", "warning", _BING_LASTMOD,
         "The lastmod of an entry contradicts the date that the page or the server states.",
         "Write the date of the change that the page states, or leave lastmod out."),
        ("media-broken", "warning", _IMAGES, "A listed image or video does not answer, or with a page.",
         "Correct the URL of the image or video, or remove it."),
        ("media-blocked", "warning", _ROBOTS, "The robots.txt of its host disallows a listed image or video.",
         "Allow the image or video in robots.txt, or remove it from the sitemap."),
        ("live-incomplete", "warning", _TOOL, "Not all listed URLs were requested.",
         "Run the check again, or raise its limits."),
    ),
    *_rules(
        "against",
        ("against-missing", "warning", _TOOL, "The sitemap lacks a page that the inventory lists.",
         "Add the URL to the sitemap, or exclude the page from the inventory."),
        ("against-soft-404", "warning", _SOFT_404,
         "The crawl found that a listed page answers with status 200 and looks like an error page.",
         "Let the missing page answer with status 404, and remove its URL from the sitemap."),
        ("against-extra", "error", _TOOL, "The sitemap lists a URL that the inventory excludes or does not know.",
         "Remove the URL from the sitemap, or correct the reason for its exclusion."),
    ),
])  # fmt: skip
"""All rules by id, in the order of the documentation."""
