import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { authorizeUrl, makePkce, register, startSignIn } from "xs-mcp-gateway/testing/sign-in";
import { openPage, openPhonePage, whyNoChromium } from "../host-test/support/chromium.js";

const REDIRECT = "https://client.example/callback";

// The page on which an operator approves a client, in Chromium: its policy, its form and the way back to the client.
describe("the page of a sign-in", { skip: whyNoChromium }, () => {
	for (const [locale, open, title] of [
		["en-GB", openPage, "Allow a client?"],
		["ja", openPhonePage, "クライアントを許可しますか？"],
		["zh-CN", openPage, "允许此客户端吗？"],
	] as const) {
		it(`leads an operator back to the client, ${locale}`, async (t) => {
			const { base, operator } = await startSignIn(t);
			const id = await register(base, { redirect_uris: [REDIRECT] });
			const page = await open(t, { locale });
			const complaints: string[] = [];
			page.on("console", (message) => complaints.push(message.text()));
			await page.route("https://client.example/**", (route) => route.fulfill({ body: "back" }));
			await page.goto(authorizeUrl(base, id, makePkce().challenge, { redirect_uri: REDIRECT }));
			assert.equal((await page.textContent("h1"))?.trim(), title);
			await page.fill("input[name=secret]", operator);
			// Enter goes on; it does not deny.
			await page.press("input[name=secret]", "Enter");
			assert.equal(await page.isVisible("input[name=device]"), false);
			await page.check("input[value=some]");
			await page.check("input[name=device] >> nth=0");
			await page.click("button.primary");
			await page.waitForURL(/^https:\/\/client\.example\//);
			const { searchParams } = new URL(page.url());
			assert.ok(searchParams.get("code"));
			assert.equal(searchParams.get("iss"), base);
			assert.deepEqual(complaints, []);
		});
	}
});
