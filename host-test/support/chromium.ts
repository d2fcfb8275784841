import type { TestContext } from "node:test";
import { type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { CHROMIUM_ARGUMENTS, chromiumPath } from "../../scripts/chromium.js";

export { whyNoChromium } from "../../scripts/chromium.js";

/** A page in a browser that ends with the test and that reaches nothing but this machine. */
export async function openPage(t: TestContext, options: BrowserContextOptions = {}): Promise<Page> {
	const browser = await chromium.launch({
		...(chromiumPath !== undefined && { executablePath: chromiumPath }),
		args: CHROMIUM_ARGUMENTS,
	});
	t.after(() => browser.close());
	const context = await browser.newContext(options);
	return context.newPage();
}

/** The same as a phone shows it. */
export async function openPhonePage(t: TestContext, options: BrowserContextOptions = {}): Promise<Page> {
	const viewport = { width: 390, height: 844 };
	return await openPage(t, { viewport, deviceScaleFactor: 2, isMobile: true, hasTouch: true, ...options });
}
