// A loop over given pages by Playwright: node playwright_rendering.cjs BROWSER PAGES RESULT URL...
// It has PAGES pages at a time, each in a context of its own, waits for a quiet network, and loads no images, fonts or
// style sheets. RESULT is a JSON file with the URLs of the pages that were read.
const { writeFileSync } = require('node:fs');
const { chromium } = require('playwright');

const [executablePath, pages, result, ...urls] = process.argv.slice(2);
const read = [];

async function readAll(browser, waiting) {
    for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
        const context = await browser.newContext();
        const page = await context.newPage();
        await page.route('**/*', (route) =>
            ['image', 'font', 'media', 'stylesheet'].includes(route.request().resourceType()) ? route.abort() : route.continue());
        await page.goto(url, { waitUntil: 'networkidle', timeout: 15_000 });
        if ((await page.content()).length > 0) read.push(url);
        await context.close();
    }
}

chromium.launch({ executablePath, args: ['--no-sandbox'] }).then(async (browser) => {
    const waiting = [...urls];
    await Promise.all(Array.from({ length: Number(pages) }, () => readAll(browser, waiting)));
    await browser.close();
    writeFileSync(result, JSON.stringify({ urls: read }));
}).catch((error) => {
    console.error(error);
    process.exit(1);
});
