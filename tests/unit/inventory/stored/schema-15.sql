BEGIN TRANSACTION;
PRAGMA application_id=1397572434;
CREATE TABLE added_urls (url_id INTEGER NOT NULL, added FLOAT NOT NULL, PRIMARY KEY (url_id));
INSERT INTO "added_urls" VALUES(9,1795000005.0);
CREATE TABLE changes (
	publication INTEGER NOT NULL, 
	url_id INTEGER NOT NULL, 
	run INTEGER NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	"before" FLOAT, 
	"after" FLOAT, 
	PRIMARY KEY (publication, url_id)
);
INSERT INTO "changes" VALUES(1,1,1,'added',NULL,1704164645.0);
INSERT INTO "changes" VALUES(1,3,1,'added',NULL,NULL);
INSERT INTO "changes" VALUES(1,5,1,'added',NULL,1706918400.0);
INSERT INTO "changes" VALUES(1,8,1,'added',NULL,1714953600.0);
INSERT INTO "changes" VALUES(2,9,2,'added',NULL,NULL);
INSERT INTO "changes" VALUES(2,3,2,'changed',NULL,1.7953968664624269008e+09);
CREATE TABLE clusters (
	url_id INTEGER NOT NULL, 
	cluster INTEGER NOT NULL, 
	codes TEXT NOT NULL, 
	PRIMARY KEY (url_id)
);
CREATE TABLE decisions (
	url_id INTEGER NOT NULL, 
	decision VARCHAR(16) NOT NULL, 
	reason VARCHAR(32) NOT NULL, 
	evidence TEXT, 
	lastmod FLOAT, 
	lastmod_source VARCHAR(32), 
	lastmod_day BOOLEAN DEFAULT 0 NOT NULL, 
	since INTEGER NOT NULL, "before" VARCHAR(32), 
	PRIMARY KEY (url_id)
);
INSERT INTO "decisions" VALUES(1,'listed','listed',NULL,1704164645.0,'article:modified_time',0,1,NULL);
INSERT INTO "decisions" VALUES(2,'excluded','canonical-elsewhere','rel=canonical http://127.0.0.1:8123/docs/',NULL,NULL,0,1,NULL);
INSERT INTO "decisions" VALUES(3,'listed','listed',NULL,1.7953968664624269008e+09,'observed-change',0,1,NULL);
INSERT INTO "decisions" VALUES(4,'excluded','client-error','status 404',NULL,NULL,0,1,NULL);
INSERT INTO "decisions" VALUES(5,'listed','listed',NULL,1706918400.0,'sitemap',1,1,NULL);
INSERT INTO "decisions" VALUES(6,'excluded','duplicate-index-file','same bytes as http://127.0.0.1:8123/',NULL,NULL,0,1,NULL);
INSERT INTO "decisions" VALUES(7,'excluded','noindex','<meta name="robots" content="noindex">',NULL,NULL,0,2,'listed');
INSERT INTO "decisions" VALUES(8,'listed','listed',NULL,1714953600.0,'sitemap',1,1,NULL);
INSERT INTO "decisions" VALUES(9,'listed','listed',NULL,NULL,NULL,0,2,NULL);
CREATE TABLE engine_quota (service VARCHAR(16) NOT NULL, property TEXT NOT NULL, day VARCHAR(10) NOT NULL, used INTEGER NOT NULL, PRIMARY KEY (service, property, day));
INSERT INTO "engine_quota" VALUES('google','sc-domain:example.com','2026-11-22',1);
CREATE TABLE engine_sitemaps (id INTEGER NOT NULL, service VARCHAR(16) NOT NULL, property TEXT NOT NULL, url TEXT NOT NULL, since FLOAT NOT NULL, asked FLOAT NOT NULL, answer JSON NOT NULL, PRIMARY KEY (id));
INSERT INTO "engine_sitemaps" VALUES(1,'google','sc-domain:example.com','http://127.0.0.1:8123/sitemap.xml',1795000002.0,1795000003.0,'{"known": true, "submitted": 3, "last_submitted": "2026-11-22T10:00:00+00:00", "last_downloaded": null, "pending": true, "is_index": false, "type": "sitemap", "status": null, "errors": 0, "warnings": 0, "contents": [{"type": "web", "submitted": 3}], "parent": null}');
CREATE TABLE frontier (url_id INTEGER NOT NULL, depth INTEGER NOT NULL, owner BIGINT, deaths SMALLINT DEFAULT '0' NOT NULL, turn SMALLINT DEFAULT '0' NOT NULL,
    PRIMARY KEY (url_id));
INSERT INTO "frontier" VALUES(9,2,NULL,0,0);
CREATE TABLE inspections (url_id INTEGER NOT NULL, property TEXT NOT NULL, at FLOAT NOT NULL, verdict TEXT, coverage_state TEXT, robots TEXT, indexing TEXT, fetch TEXT, last_crawl FLOAT, google_canonical TEXT, user_canonical TEXT, PRIMARY KEY (url_id));
INSERT INTO "inspections" VALUES(9,'sc-domain:example.com',1795000004.0,'PASS','Submitted and indexed','ALLOWED','INDEXING_ALLOWED','SUCCESSFUL',1794990000.0,'http://127.0.0.1:8123/docs/','http://127.0.0.1:8123/docs/');
CREATE TABLE listings (
	url_id INTEGER NOT NULL, 
	lastmod FLOAT, 
	PRIMARY KEY (url_id)
);
INSERT INTO "listings" VALUES(1,1704164645.0);
INSERT INTO "listings" VALUES(3,1.7953968664624269008e+09);
INSERT INTO "listings" VALUES(5,1706918400.0);
INSERT INTO "listings" VALUES(8,1714953600.0);
INSERT INTO "listings" VALUES(9,NULL);
CREATE TABLE meta (
	name VARCHAR(64) NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "meta" VALUES('schema_version','15');
CREATE TABLE named_alternates (
	url_id INTEGER NOT NULL, 
	run INTEGER NOT NULL, 
	sitemap BIGINT NOT NULL, 
	alternates JSON NOT NULL, 
	PRIMARY KEY (url_id)
);
CREATE TABLE named_dates (
	url_id INTEGER NOT NULL, 
	run INTEGER NOT NULL, 
	sitemap BIGINT NOT NULL, 
	source VARCHAR(32) NOT NULL, 
	lastmod FLOAT NOT NULL, 
	lastmod_day BOOLEAN NOT NULL, 
	PRIMARY KEY (url_id)
);
INSERT INTO "named_dates" VALUES(5,2,-819769803671115583,'sitemap',1706918400.0,1);
INSERT INTO "named_dates" VALUES(8,2,-819769803671115583,'sitemap',1714953600.0,1);
CREATE TABLE nofollowed (
	"key" BIGINT NOT NULL, 
	referrer INTEGER NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "nofollowed" VALUES(-3386379841476142807,1);
CREATE TABLE observations (url_id INTEGER NOT NULL, run INTEGER NOT NULL, fetched FLOAT NOT NULL, status SMALLINT,
    error TEXT, blocked_by TEXT, content_type TEXT, body_bytes BIGINT NOT NULL, elapsed INTEGER, body_hash BLOB,
    location INTEGER, refresh INTEGER, canonical INTEGER, noindex BOOLEAN NOT NULL, nofollow BOOLEAN NOT NULL,
    unavailable_after FLOAT, directives TEXT, lastmod FLOAT, lastmod_source VARCHAR(32),
    lastmod_day BOOLEAN DEFAULT 0 NOT NULL, fingerprint BLOB, title TEXT, etag TEXT, modified_header TEXT,
    header_mark BLOB, readers TEXT, not_modified BOOLEAN DEFAULT 0 NOT NULL, failed_status SMALLINT, failed_error TEXT,
    failed_since INTEGER, alternates JSON, links BLOB, extras JSON, notes JSON, rendered SMALLINT, rendering JSON, PRIMARY KEY (url_id));
INSERT INTO "observations" VALUES(1,2,1.79539686644910502434e+09,200,NULL,NULL,'text/html',401,12,X'5098E188BAF2B8DFC0578101E4A0D211',NULL,NULL,NULL,0,0,NULL,NULL,1704164645.0,'article:modified_time',0,X'62EFB7BDBF5E66EB','Home',NULL,'Mon, 23 Nov 2026 01:06:48 GMT',NULL,'d994df730596',1,NULL,NULL,NULL,'[["de", 5], ["en", 6]]',X'0201010101','{"images": ["http://127.0.0.1:8123/x.png"]}','{"nofollow-links": 1}',3,'{"cause": "sample", "run": 2, "template": 5077, "gains": ["links"], "links": 2, "plain_hash": "00112233445566778899aabbccddeeff", "requests": [["http://127.0.0.1:8123/data.json", "data", "\"1\"", null, "ffeeddccbbaa99887766554433221100"]]}');
INSERT INTO "observations" VALUES(2,2,1.79539686646226596834e+09,200,NULL,NULL,'text/html',56,NULL,X'78EFE61DE3381D5F30B3E66150A30158',NULL,NULL,3,0,0,NULL,NULL,1795396008.0,'last-modified',0,X'8978E42B38DBD4A2','A',NULL,'Mon, 23 Nov 2026 01:06:48 GMT',NULL,'d994df730596',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,'{"cause": "no-scripts", "run": 2}');
INSERT INTO "observations" VALUES(3,2,1.7953968664624269008e+09,200,NULL,NULL,'text/html',99,48,X'D425D6F32D77AFB3EC33C5930C91E98F',NULL,NULL,NULL,0,0,NULL,NULL,1.7953968664624269008e+09,'observed-change',0,X'E64B4CCD755F87FC','Docs',NULL,'Mon, 23 Nov 2026 01:21:05 GMT',NULL,'d994df730596',0,NULL,NULL,NULL,NULL,X'010602',NULL,NULL,NULL,NULL);
INSERT INTO "observations" VALUES(4,2,1.79539686646258807179e+09,404,NULL,NULL,'text/html',335,NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,'d994df730596',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "observations" VALUES(5,2,1.7953968664626450539e+09,200,NULL,NULL,'text/html',173,NULL,X'028D168BB8940034495D821522AFB9D6',NULL,NULL,NULL,0,0,NULL,NULL,1706918400.0,'sitemap',1,X'0EDEB0E917FA7833','Heim',NULL,'Mon, 23 Nov 2026 01:06:48 GMT',NULL,'d994df730596',1,NULL,NULL,NULL,'[["de", 5], ["en", 6]]',X'06',NULL,NULL,NULL,NULL);
INSERT INTO "observations" VALUES(6,2,1.79539686646268510823e+09,200,NULL,NULL,'text/html',401,NULL,X'5098E188BAF2B8DFC0578101E4A0D211',NULL,NULL,NULL,0,0,NULL,NULL,1704164645.0,'article:modified_time',0,X'62EFB7BDBF5E66EB','Home',NULL,'Mon, 23 Nov 2026 01:06:48 GMT',NULL,'d994df730596',1,NULL,NULL,NULL,'[["de", 5], ["en", 6]]',X'02010101','{"images": ["http://127.0.0.1:8123/x.png"]}',NULL,NULL,NULL);
INSERT INTO "observations" VALUES(7,2,1.79539686646271800995e+09,200,NULL,NULL,'text/html',44,5,X'6EBBF35B68F376A26554AD95AE921ABE',NULL,NULL,NULL,1,0,NULL,'<meta name="robots" content="noindex">',1795396008.0,'last-modified',0,X'024EDDF5FF96A25C',NULL,NULL,'Mon, 23 Nov 2026 01:06:48 GMT',NULL,'d994df730596',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "observations" VALUES(8,2,1.79539686646274900439e+09,200,NULL,NULL,'text/html',27,NULL,X'644520F9704D6DCAE57F693317803439',NULL,NULL,NULL,0,0,NULL,NULL,1714953600.0,'sitemap',1,X'C0319D168D3E9744','Only',NULL,'Mon, 23 Nov 2026 01:06:48 GMT',NULL,'d994df730596',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "observations" VALUES(9,2,1.79539686648972892759e+09,200,NULL,NULL,'text/html',25,0,X'9A0598952364943CAEBAF8FE89AA20B4',NULL,NULL,NULL,0,0,NULL,NULL,NULL,NULL,0,X'CF2B2C1C70A8E855','New',NULL,'Mon, 23 Nov 2026 01:21:05 GMT',NULL,'d994df730596',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE page_texts (url_id INTEGER NOT NULL, run INTEGER NOT NULL, texts BLOB NOT NULL, fingerprint BLOB, PRIMARY KEY (url_id));
CREATE TABLE page_templates ("key" BIGINT NOT NULL, run INTEGER NOT NULL, shape BIGINT NOT NULL,
    rendered INTEGER NOT NULL, useful INTEGER NOT NULL, idle INTEGER NOT NULL, failed INTEGER NOT NULL,
    passed INTEGER NOT NULL, PRIMARY KEY ("key"));
INSERT INTO "page_templates" VALUES(5077,2,77,3,1,0,0,0);
CREATE TABLE published (
	directory TEXT NOT NULL, 
	entry TEXT NOT NULL, 
	name TEXT NOT NULL, 
	url TEXT NOT NULL, 
	urls INTEGER NOT NULL, 
	bytes BIGINT NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	modified FLOAT NOT NULL, 
	first TEXT NOT NULL, 
	section VARCHAR(40) DEFAULT '' NOT NULL, 
	rules TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (directory, entry, name)
);
INSERT INTO "published" VALUES('/srv/sitemaps','sitemap.xml','sitemap.xml','http://127.0.0.1:8123/sitemap.xml',5,759,'4289e1efae0acb3847b48261d8ff7b71270be1585212a749304dcf41ac9fc26d',1795396866.0,'http://127.0.0.1:8123/','','');
CREATE TABLE rendering_counts (run INTEGER NOT NULL, name TEXT NOT NULL, count BIGINT NOT NULL,
    PRIMARY KEY (run, name));
INSERT INTO "rendering_counts" VALUES(2,'rendered',3);
INSERT INTO "rendering_counts" VALUES(2,'refused cdn.example',1);
CREATE TABLE robots (
	origin TEXT NOT NULL, 
	run INTEGER NOT NULL, 
	agent TEXT NOT NULL, 
	body BLOB NOT NULL, 
	PRIMARY KEY (origin)
);
INSERT INTO "robots" VALUES('http://127.0.0.1:8123',2,'sitemap-crawler',X'557365722D6167656E743A202A0A446973616C6C6F773A202F707269766174650A536974656D61703A20687474703A2F2F3132372E302E302E313A383132332F6F6C642E786D6C0A');
CREATE TABLE runs (
	id INTEGER NOT NULL, 
	requested_url TEXT NOT NULL, 
	start_url TEXT NOT NULL, 
	sitemap_url TEXT NOT NULL, 
	started FLOAT NOT NULL, 
	finished FLOAT, 
	outcome VARCHAR(32), 
	ended_by VARCHAR(64), 
	planned BOOLEAN DEFAULT 0 NOT NULL, 
	options JSON, totals JSON, phase VARCHAR(16), version TEXT, leased INTEGER, 
	PRIMARY KEY (id)
);
INSERT INTO "runs" VALUES(1,'http://127.0.0.1:8123/','http://127.0.0.1:8123/','http://127.0.0.1:8123/sitemap.xml',1.79539686418070697782e+09,1.79539686498215198514e+09,'published','finished',1,'{"start_url": "http://127.0.0.1:8123/", "output": "/srv/sitemaps", "include": [], "exclude": [], "exclude_listing": [], "seed_sitemap": [], "follow_nofollow": false, "subdomains": false, "images": true, "videos": true, "alternates": true, "format": ["xml"], "section": [], "by_directory": false, "media_files": false, "changefreq": false, "priority": false, "max_urls": 50000, "max_bytes": 52428800, "gzip": false, "user_agent": "sitemap-crawler/0.1.0 (XML sitemap generator)", "content_types": ["text/html", "application/xhtml+xml"], "tracking_parameters": ["utm_*", "mtm_*", "pk_campaign", "pk_kwd", "pk_keyword", "piwik_campaign", "piwik_kwd", "_openstat", "hsa_*", "_hsenc", "_hsmi", "__hstc", "__hssc", "__hsfp", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid", "srsltid", "fbclid", "msclkid", "yclid", "ysclid", "twclid", "ttclid", "li_fat_id", "igshid", "igsh", "s_kwcid", "irclickid", "mc_cid", "mc_eid", "mkt_tok", "vero_id", "oly_anon_id", "oly_enc_id", "_ga", "_gl", "phpsessid", "jsessionid", "cfid", "cftoken", "oscsid", "zenid", "xtcsid", "___sid"], "other_hosts": true, "template_images": false, "image_texts": false, "max_shrink": 0.3, "keep_errors": 7, "trap_budget": 5000, "no_traps": [], "orphan_runs": 2, "keep_runs": 100, "max_body": 15000000}',NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(2,'http://127.0.0.1:8123/','http://127.0.0.1:8123/','http://127.0.0.1:8123/sitemap.xml',1795396866.05356,1.79539686689236402516e+09,'published','finished',1,'{"start_url": "http://127.0.0.1:8123/", "output": "/srv/sitemaps", "include": [], "exclude": [], "exclude_listing": [], "seed_sitemap": [], "follow_nofollow": false, "subdomains": false, "images": true, "videos": true, "alternates": true, "format": ["xml"], "section": [], "by_directory": false, "media_files": false, "changefreq": false, "priority": false, "max_urls": 50000, "max_bytes": 52428800, "gzip": false, "user_agent": "sitemap-crawler/0.1.0 (XML sitemap generator)", "content_types": ["text/html", "application/xhtml+xml"], "tracking_parameters": ["utm_*", "mtm_*", "pk_campaign", "pk_kwd", "pk_keyword", "piwik_campaign", "piwik_kwd", "_openstat", "hsa_*", "_hsenc", "_hsmi", "__hstc", "__hssc", "__hsfp", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid", "srsltid", "fbclid", "msclkid", "yclid", "ysclid", "twclid", "ttclid", "li_fat_id", "igshid", "igsh", "s_kwcid", "irclickid", "mc_cid", "mc_eid", "mkt_tok", "vero_id", "oly_anon_id", "oly_enc_id", "_ga", "_gl", "phpsessid", "jsessionid", "cfid", "cftoken", "oscsid", "zenid", "xtcsid", "___sid"], "other_hosts": true, "template_images": false, "image_texts": false, "max_shrink": 0.3, "keep_errors": 7, "trap_budget": 5000, "no_traps": [], "orphan_runs": 2, "keep_runs": 100, "max_body": 15000000}','{"outcome": "published", "message": "published; 5 pages", "listed": 5, "kept": 0, "excluded": {"canonical-elsewhere": 1, "client-error": 1, "duplicate-index-file": 1, "noindex": 1}, "other_hosts": 0, "changes": {"added": 1, "changed": 1, "removed": 0}, "requests": 11, "not_modified": 5, "bytes": 1302, "errors": 0, "files": 1, "files_written": 1, "warning_counts": {"broken-link": 1, "sitemap-only": 1}}',NULL,NULL,NULL);
CREATE TABLE seeds (
	run INTEGER NOT NULL, 
	url TEXT NOT NULL, 
	named_by TEXT NOT NULL, 
	level SMALLINT NOT NULL, 
	done BOOLEAN NOT NULL, 
	problem TEXT, 
	passing BOOLEAN DEFAULT 0 NOT NULL, 
	PRIMARY KEY (run, url)
);
INSERT INTO "seeds" VALUES(2,'http://127.0.0.1:8123/robots.txt','start',0,1,NULL,0);
INSERT INTO "seeds" VALUES(2,'http://127.0.0.1:8123/old.xml','http://127.0.0.1:8123/robots.txt',0,1,NULL,0);
CREATE TABLE submission_marks (service VARCHAR(16) NOT NULL, endpoint TEXT NOT NULL, host TEXT NOT NULL, publication INTEGER NOT NULL, PRIMARY KEY (service, endpoint, host));
INSERT INTO "submission_marks" VALUES('indexnow','api.indexnow.org','127.0.0.1:8123',2);
CREATE TABLE submissions (id INTEGER NOT NULL, at FLOAT NOT NULL, service VARCHAR(16) NOT NULL, endpoint TEXT NOT NULL, host TEXT NOT NULL, target TEXT NOT NULL, kind VARCHAR(16) NOT NULL, publication INTEGER NOT NULL, sha256 VARCHAR(64), urls INTEGER NOT NULL, http_status SMALLINT, reason TEXT, message TEXT, outcome VARCHAR(16) NOT NULL, request_id TEXT, PRIMARY KEY (id));
INSERT INTO "submissions" VALUES(1,1795000000.0,'google','searchconsole.googleapis.com','127.0.0.1:8123','http://127.0.0.1:8123/sitemap.xml','sitemap',2,'abababababababababababababababababababababababababababababababab',5,204,NULL,NULL,'accepted',NULL);
INSERT INTO "submissions" VALUES(2,1795000001.0,'indexnow','api.indexnow.org','127.0.0.1:8123','batch','urls',2,NULL,1,202,NULL,'key pending','accepted',NULL);
CREATE TABLE submitted_urls (url_id INTEGER NOT NULL, submission INTEGER NOT NULL, kind VARCHAR(16) NOT NULL, PRIMARY KEY (url_id, submission));
INSERT INTO "submitted_urls" VALUES(9,2,'added');
CREATE TABLE supplied (url_id INTEGER NOT NULL, run INTEGER NOT NULL, listed BOOLEAN NOT NULL, visits BIGINT, section VARCHAR(40), extras JSON, PRIMARY KEY (url_id));
INSERT INTO "supplied" VALUES(4,2,0,12,NULL,NULL);
INSERT INTO "supplied" VALUES(8,2,1,3,NULL,'{"images": ["http://127.0.0.1:8123/y.png"]}');
CREATE TABLE template_images (
	url TEXT NOT NULL, 
	PRIMARY KEY (url)
);
CREATE TABLE urls (
	id INTEGER NOT NULL, 
	"key" BIGINT NOT NULL, 
	url TEXT NOT NULL, 
	state SMALLINT NOT NULL, 
	depth INTEGER NOT NULL, 
	referrer INTEGER, 
	first_seen INTEGER NOT NULL, 
	named INTEGER, 
	unlinked_since INTEGER, inlinks INTEGER, 
	PRIMARY KEY (id), 
	UNIQUE ("key")
);
INSERT INTO "urls" VALUES(1,-758740470344304144,'http://127.0.0.1:8123/',3,0,NULL,1,NULL,NULL,1);
INSERT INTO "urls" VALUES(2,8706434508076410784,'http://127.0.0.1:8123/a.html',3,1,1,1,NULL,NULL,2);
INSERT INTO "urls" VALUES(3,366366841879296022,'http://127.0.0.1:8123/docs/',3,1,1,1,NULL,NULL,2);
INSERT INTO "urls" VALUES(4,3918955319424163385,'http://127.0.0.1:8123/gone.html',3,1,1,1,NULL,NULL,2);
INSERT INTO "urls" VALUES(5,-3876495986922576614,'http://127.0.0.1:8123/de.html',3,1,1,1,2,NULL,2);
INSERT INTO "urls" VALUES(6,727803827288000919,'http://127.0.0.1:8123/index.html',3,1,1,1,NULL,NULL,2);
INSERT INTO "urls" VALUES(7,-7881351619448012191,'http://127.0.0.1:8123/noindex.html',3,2,3,1,NULL,NULL,1);
INSERT INTO "urls" VALUES(8,9189181323450105074,'http://127.0.0.1:8123/only.html',3,65535,NULL,1,2,NULL,0);
INSERT INTO "urls" VALUES(9,84703345733497774,'http://127.0.0.1:8123/docs/new.html',3,2,3,2,NULL,NULL,2);
CREATE TABLE warnings (id INTEGER NOT NULL, run INTEGER NOT NULL, kind VARCHAR(32) NOT NULL, url TEXT NOT NULL,
    message TEXT NOT NULL, PRIMARY KEY (id));
INSERT INTO "warnings" VALUES(1,2,'broken-link','http://127.0.0.1:8123/','links to http://127.0.0.1:8123/gone.html (client-error: status 404)');
INSERT INTO "warnings" VALUES(2,2,'sitemap-only','http://127.0.0.1:8123/only.html','only /sitemap.xml names it, no followed link leads to it');
CREATE INDEX ix_clusters_cluster ON clusters (cluster);
CREATE INDEX ix_named_alternates_sitemap ON named_alternates (sitemap);
CREATE INDEX observations_canonical ON observations (canonical) WHERE canonical != url_id;
CREATE INDEX frontier_due ON frontier (turn, depth, url_id) WHERE owner IS NULL;
COMMIT;
