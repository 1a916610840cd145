// Crawlee's crawler for plain HTML, which follows every link of one host: node crawlee_crawler.cjs URL CONCURRENCY
// Its storage is in memory; a request that fails is not repeated, as those of the other crawlers are not here.
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
