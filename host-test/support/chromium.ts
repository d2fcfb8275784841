import type { EventEmitter } from "node:events";
import { existsSync } from "node:fs";
import type { TestContext } from "node:test";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { skipIf } from "./testing.js";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

const ARGUMENTS = ["--disable-background-networking", "--no-first-run", "--disable-sync", "--no-sandbox"];

const executablePath = PLACES.find((path) => existsSync(path)) ?? "";

export const whyNoChromium = skipIf(
	executablePath === "" && `no Chromium here: install it as one of ${PLACES.join(", ")}`,
);

/** Milliseconds after which the browser is given up. On a busy machine it takes long; only a fault takes this long. */
const MAX_WAIT = 300_000;

/** The browser of all tests in a file: to start one takes seconds. */
let browser: Promise<Browser> | undefined;

function launch(...own: readonly string[]): Promise<Browser> {
	return chromium.launch({ executablePath, args: [...ARGUMENTS, ...own], timeout: MAX_WAIT });
}

atEndOfFile(async () => {
	await (await browser)?.close();
	browser = undefined;
});

export async function openPage(t: TestContext, options: BrowserContextOptions = {}): Promise<Page> {
	browser ??= launch();
	const context = await (await browser).newContext(options);
	context.setDefaultTimeout(MAX_WAIT);
	t.after(() => context.close());
	return noteComplaints(await context.newPage());
}

const complaints = new WeakMap<Page, string[]>();

function noteComplaints(page: Page): Page {
	const said: string[] = [];
	complaints.set(page, said);
	page.on("pageerror", (error) => said.push(String(error)));
	page.on("console", (message) => message.type() === "error" && said.push(message.text()));
	return page;
}

export function complaintsOf(page: Page): readonly string[] {
	return complaints.get(page) ?? [];
}

/** The same in a browser whose microphone hears a sound, again and again. */
export async function openPageWithMicrophone(t: TestContext, wav: string): Promise<Page> {
	const own = await launch("--use-fake-device-for-media-stream", `--use-file-for-fake-audio-capture=${wav}`);
	t.after(() => own.close());
	const context = await own.newContext({ permissions: ["microphone"] });
	context.setDefaultTimeout(MAX_WAIT);
	return noteComplaints(await context.newPage());
}

export async function openPhonePage(t: TestContext, options: BrowserContextOptions = {}): Promise<Page> {
	const viewport = { width: 390, height: 844 };
	return await openPage(t, { viewport, deviceScaleFactor: 2, isMobile: true, hasTouch: true, ...options });
}

/**
 * Runs a task after the last test of a file, and of each later file of this process: this module is loaded once in a
 * process of tests.
 */
function atEndOfFile(task: () => Promise<void>): void {
	// Emitted by runner/entry.mjs, which is not bundled with the tests.
	(process as EventEmitter).on("endOfFile", (wait: (task: Promise<void>) => void) => wait(task()));
}
