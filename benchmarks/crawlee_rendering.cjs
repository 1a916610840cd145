// Crawlee's crawler that renders pages where that shows more: node crawlee_rendering.cjs BROWSER PAGES RESULT URL
// It has PAGES pages at a time, waits for a quiet network, loads no images, fonts or style sheets, and repeats nothing.
// RESULT is a JSON file: the URLs of the pages, and the numbers of those that were read with and without the browser.
const { writeFileSync } = require('node:fs');
const { AdaptivePlaywrightCrawler, Configuration, log } = require('crawlee');

const [executablePath, pages, result, url] = process.argv.slice(2);
const concurrency = Number(pages);
const read = new Set();
log.setLevel(log.LEVELS.OFF);

const crawler = new AdaptivePlaywrightCrawler({
    minConcurrency: concurrency,
    maxConcurrency: concurrency,
    maxRequestRetries: 0,
    navigationTimeoutSecs: 15,
    requestHandlerTimeoutSecs: 30,
    launchContext: { launchOptions: { executablePath, args: ['--no-sandbox'] } },
    preNavigationHooks: [
        async ({ page }, gotoOptions) => {
            if (!page) return;
            gotoOptions.waitUntil = 'networkidle';
            await page.route('**/*', (route) =>
                ['image', 'font', 'media', 'stylesheet'].includes(route.request().resourceType()) ? route.abort() : route.continue());
        },
    ],
    async requestHandler({ request, enqueueLinks, pushData }) {
        await pushData({ url: request.loadedUrl });
        await enqueueLinks();
    },
}, new Configuration({ persistStorage: false }));

crawler.run([url]).then(async () => {
    const { items } = await crawler.getData();
    for (const item of items) read.add(item.url.replace(/#.*/, ''));
    const { httpOnlyRequestHandlerRuns, browserRequestHandlerRuns } = crawler.stats.state;
    writeFileSync(result, JSON.stringify({
        urls: [...read], plain: httpOnlyRequestHandlerRuns ?? 0, rendered: browserRequestHandlerRuns ?? 0,
    }));
    process.exit();
}).catch((error) => {
    console.error(error);
    process.exit(1);
});
