import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { buildSite } from "../../../scripts/docs/build-site.js";
import { openPage, openPhonePage, whyNoChromium } from "../../support/chromium.js";

describe("the site in Chromium, opened from a folder", { skip: whyNoChromium }, () => {
	it("finds a section, fits a phone, and reaches no other host", async (t) => {
		const folder = mkdtempSync(join(tmpdir(), "xs-mcp-site-"));
		t.after(() => rmSync(folder, { recursive: true }));
		await buildSite(folder);
		const start = pathToFileURL(join(folder, "docs/architecture.html")).href;
		const page = await openPage(t);
		const hosts = new Set<string>();
		page.on("request", (request) => hosts.add(new URL(request.url()).host));
		await page.goto(start);
		await page.keyboard.press("/");
		await page.keyboard.type("rate limit");
		await page.locator(".found a", { hasText: "What does the gateway reject?" }).click();
		await page.waitForURL(/docs\/gateway\/security\.html#what-does-the-gateway-reject$/);
		assert.deepEqual([...hosts], [""]);
		const phone = await openPhonePage(t);
		await phone.goto(start);
		assert.equal(await phone.locator("nav ul").first().isVisible(), false);
		await phone.getByText("Pages", { exact: true }).click();
		await phone.getByRole("link", { name: "Security" }).waitFor();
		assert.equal(await phone.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
	});
});
