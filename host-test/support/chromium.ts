import { accessSync, constants } from "node:fs";
import type { TestContext } from "node:test";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

const path = PLACES.find(isThere);

/** Why no page can be opened here; undefined if it can. */
export const whyNoChromium =
	path === undefined ? `no Chromium here: install it as one of ${PLACES.join(", ")}` : undefined;

/** A page in a browser that ends with the test and that reaches nothing but this machine. */
export async function openPage(t: Pick<TestContext, "after">, options: BrowserContextOptions = {}): Promise<Page> {
	const args = ["--disable-background-networking", "--no-first-run", "--disable-sync", "--no-sandbox"];
	const browser: Browser = await chromium.launch({ ...(path !== undefined && { executablePath: path }), args });
	t.after(() => browser.close());
	const context = await browser.newContext(options);
	return context.newPage();
}

/** The same as a phone shows it. */
export async function openPhonePage(t: TestContext, options: BrowserContextOptions = {}): Promise<Page> {
	const viewport = { width: 390, height: 844 };
	return await openPage(t, { viewport, deviceScaleFactor: 2, isMobile: true, hasTouch: true, ...options });
}

function isThere(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
