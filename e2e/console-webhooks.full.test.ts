import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { ask, Endpoint, SECRET } from "xs-mcp-gateway/testing/events";
import { WireDevice } from "xs-mcp-gateway/testing/gateway";
import { whyNoChromium } from "../host-test/support/chromium.js";
import { until } from "../host-test/support/testing.js";
import { connectOverHttp } from "./clients.js";
import { complaintsOf, LAMP, openSignedIn, openWithDevice, startConsole } from "./console-page.js";

describe("a webhook in the console in Chromium", { skip: whyNoChromium }, () => {
	for (const width of [360, 1280]) {
		it(`is made, tried and ended, at ${width} pixels`, async (t) => {
			const endpoint = await Endpoint.listen(t);
			const gateway = await startConsole(t, { webhookHosts: [endpoint.host] });
			const device = await WireDevice.connect(t, gateway, { id: LAMP });
			const page = await openSignedIn(t, gateway, { viewport: { width, height: 900 } });
			await page
				.getByRole("link", { name: /^lamp_/ })
				.first()
				.click();
			await page.getByText("Post events to a URL").click();
			await page.locator("select[name=type]").selectOption("button.pressed");
			await page.locator("input[name=url]").fill(endpoint.url);
			endpoint.secret = (await page.locator(".webhook pre").first().textContent()) ?? "";
			const commands = (await page.locator(".webhook pre").last().textContent()) ?? "";
			const { stdout } = await promisify(execFile)("bash", ["-c", commands]);
			assert.deepEqual(JSON.parse(stdout), { challenge: "hello" });
			await page.getByRole("button", { name: "Subscribe" }).click();
			await page.getByRole("button", { name: "Send a test event" }).click();
			await page.getByText("The URL answered: HTTP 200").waitFor();
			assert.deepEqual(endpoint.messages[0]?.body.data, { device: "lamp_000001", test: true });
			device.notify("notifications/button_pressed", { button: "boot", long: false });
			await until(() => endpoint.messages.length === 2, "a press is posted");
			assert.equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
			await page.getByRole("button", { name: "End", exact: true }).click();
			await page.getByRole("button", { name: "Send a test event" }).waitFor({ state: "detached" });
			assert.deepEqual(complaintsOf(page), []);
		});
	}

	it("is listed apart from others at the same URL, and ended alone", async (t) => {
		const endpoint = await Endpoint.listen(t);
		const gateway = await startConsole(t, { webhookHosts: [endpoint.host] });
		await WireDevice.connect(t, gateway, { id: LAMP });
		const client = await connectOverHttp(`${gateway.base}/mcp`, "2026-07-28", gateway.secret);
		t.after(() => client.close());
		for (const args of [{ device: "lamp_000001" }, {}, { tag: "kitchen" }]) {
			const delivery = { mode: "webhook", url: endpoint.url, secret: SECRET };
			await ask(client, "events/subscribe", { name: "button.pressed", arguments: args, delivery });
		}
		const page = await openSignedIn(t, gateway);
		await page.getByRole("link", { name: "Settings" }).click();
		const rows = page.getByRole("status").filter({ hasText: endpoint.url });
		await rows.filter({ hasText: "tag: kitchen" }).waitFor();
		await rows.filter({ hasText: "device: lamp_000001" }).getByRole("button", { name: "End", exact: true }).click();
		await page.getByText("device: lamp_000001").waitFor({ state: "detached" });
		assert.deepEqual(await rows.locator("code").allTextContents(), [endpoint.url, `${endpoint.url} · tag: kitchen`]);
		assert.deepEqual(complaintsOf(page), []);
	});

	it("needs a token", async (t) => {
		const { page } = await openWithDevice(t);
		await page
			.getByRole("link", { name: /^lamp_/ })
			.first()
			.click();
		await page.getByText("Post events to a URL").click();
		await page.getByText("create one and sign in with it").waitFor();
	});
});
