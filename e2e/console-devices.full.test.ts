import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { events } from "xs-mcp-gateway/events";
import { WireDevice } from "xs-mcp-gateway/testing/gateway";
import { sendJson } from "xs-mcp-gateway/testing/program";
import { whyNoChromium } from "../host-test/support/chromium.js";
import { until } from "../host-test/support/testing.js";
import { complaintsOf, LAMP, openWithDevice, VOLUME } from "./console-page.js";

describe("many devices in the console in Chromium", { skip: whyNoChromium }, () => {
	it("shows fifty devices, those with problems first, and finds one", async (t) => {
		const { gateway, page } = await openWithDevice(t);
		const ids = Array.from({ length: 49 }, (_, index) => `aa:bb:cc:00:01:${index + 10}`);
		await Promise.all(ids.map((id) => WireDevice.connect(t, gateway, { id, board: "sensor" })));
		await page.getByText("50 online").waitFor();
		gateway.gateway.servers.find("aa:bb:cc:00:01:44")?.connection?.close("test");
		const first = page.locator(".body .row").first();
		await first.getByText("offline").waitFor();
		assert.match((await first.textContent()) ?? "", /aa:bb:cc:00:01:44/);
		await page.getByRole("searchbox").fill("lamp");
		// The rows before the search are shown until its answer has come.
		await page.locator(".body .row").nth(1).waitFor({ state: "detached" });
		assert.equal(await page.locator(".body .row").count(), 1);
		await page.getByRole("link", { name: /^lamp/ }).waitFor();
		assert.equal(await page.getByRole("table").getAttribute("aria-rowcount"), "2");
	});

	it("shows what a sensor measures, once for each of its events", async (t) => {
		const status = { ...VOLUME, name: "self.get_device_status", inputSchema: { type: "object" } };
		const soil = (value: number) => ({ soil: { kind: "moisture", value, unit: "%" } });
		const onCall = () => ({ content: [], structuredContent: { sensors: soil(40) } });
		const { gateway, device, page } = await openWithDevice(t, { tools: [status], onCall });
		const measure = (value: number): void =>
			device.notify("notifications/sensor_changed", { sensor: "soil", ...soil(value).soil });
		measure(99);
		const access = { principal: "test", userTools: true } as const;
		const newest = () => gateway.gateway.use(events).recent(LAMP, access, 1)[0]?.name;
		await until(() => newest() === "sensor.changed", "it is recorded");
		await page.getByRole("link", { name: /^lamp_/ }).click();
		const reading = page.locator(".reading b");
		await until(async () => (await reading.textContent()) === "40\u00a0%", "the status");
		for (const value of [31, 30]) {
			measure(value);
			await until(async () => (await reading.textContent()) === `${value}\u00a0%`, `${value} %`);
		}
		await page.locator(".reading canvas").waitFor();
	});

	it("sorts by a column, and keeps order and filter when the page is reloaded, and after a device was looked at", async (t) => {
		const { gateway, page } = await openWithDevice(t);
		const ids = ["10", "11", "12"].map((end) => `aa:bb:cc:00:01:${end}`);
		await Promise.all(ids.map((id) => WireDevice.connect(t, gateway, { id, board: "sensor" })));
		await page.getByText("4 online").waitFor();
		const name = page.getByRole("columnheader", { name: "Name" });
		await name.getByRole("button").click();
		assert.equal(await name.getAttribute("aria-sort"), "ascending");
		await name.getByRole("button").click();
		const first = page.locator(".body .row .name a").first();
		await until(async () => (await first.textContent())?.startsWith("sensor_") === true, "the last name comes first");
		await page.getByRole("searchbox").fill("sensor");
		await until(async () => (await page.locator(".body .row").count()) === 3, "three are found");
		assert.match(page.url(), /#\/devices\?search=sensor&sort=-name$/);
		await page.reload();
		await until(async () => (await page.locator(".body .row").count()) === 3, "three are found again");
		assert.equal(await name.getAttribute("aria-sort"), "descending");
		await first.click();
		await page.getByRole("link", { name: "← Devices" }).click();
		await until(async () => (await page.locator(".body .row").count()) === 3, "three are found as before");
		assert.equal(await page.getByRole("searchbox").inputValue(), "sensor");
		assert.deepEqual(complaintsOf(page), []);
	});

	it("calls a tool once for the devices of a tag, and shows the outcome of each", async (t) => {
		const { gateway, page } = await openWithDevice(t);
		const ids = Array.from({ length: 3 }, (_, index) => `aa:bb:cc:00:01:${index + 10}`);
		const devices = await Promise.all(
			ids.map((id) => {
				const isError = id.endsWith("11");
				const onCall = () => ({ content: [{ type: "text", text: isError ? "jammed" : "set" }], isError });
				return WireDevice.connect(t, gateway, { id, board: "sensor", tools: [VOLUME], onCall });
			}),
		);
		await Promise.all(ids.map((id) => sendJson("PATCH", `${gateway.base}/devices/${id}`, { tags: ["hall"] })));
		await page.getByText("Call a tool on several devices").click();
		await page.getByText("Set volume").click();
		await page.getByLabel("hall", { exact: true }).check();
		await page.getByRole("slider", { name: "volume", exact: true }).fill("33");
		await page.getByRole("button", { name: "Call", exact: true }).click();
		await page.locator(".result").getByText("jammed").first().waitFor();
		assert.match((await page.locator(".result").textContent()) ?? "", /sensor_\w+.*set/);
		assert.deepEqual(
			devices.map(({ calls }) => calls.map(({ arguments: args }) => args)),
			ids.map(() => [{ volume: 33 }]),
		);
		assert.deepEqual(complaintsOf(page), []);
	});
});
