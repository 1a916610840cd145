// Crawlee's crawler for plain HTML that follows every link of one host: node crawlee_crawler.cjs URL CONCURRENCY
// Its storage is in memory. Failed requests are not repeated, as with the other crawlers of the comparison.
const { CheerioCrawler, Configuration, log } = require('crawlee');

const [url, concurrency] = [process.argv[2], Number(process.argv[3])];
log.setLevel(log.LEVELS.OFF);

const crawler = new CheerioCrawler({
    minConcurrency: concurrency,
    maxConcurrency: concurrency,
    maxRequestRetries: 0,
    async requestHandler({ enqueueLinks }) {
        await enqueueLinks();
    },
}, new Configuration({ persistStorage: false }));

crawler.run([url]).catch((error) => {
    console.error(error);
    process.exitCode = 1;
});
