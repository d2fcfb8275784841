import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { history as historyPlugin } from "xs-mcp-gateway/history";
import { WireDevice } from "xs-mcp-gateway/testing/gateway";
import { whyNoChromium } from "../host-test/support/chromium.js";
import { until } from "../host-test/support/testing.js";
import { connectOverHttp } from "./clients.js";
import { complaintsOf, LAMP, openSignedIn, openWithDevice, startConsole, VOLUME } from "./console-page.js";

const STATUS_TOOL = {
	name: "self.get_device_status",
	inputSchema: { type: "object", properties: {} },
	annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
};

async function readPoints(base: string): Promise<Readonly<Record<string, readonly unknown[]>>> {
	return (await (await fetch(`${base}/devices/${LAMP}/history`)).json()).values;
}

describe("history and audit log in the console in Chromium", { skip: whyNoChromium }, () => {
	it("plots what a device measured and how its switches were, also while it is offline", async (t) => {
		let value = 20;
		const status = () => ({
			sensors: { temperature: { kind: "temperature", value, unit: "°C" } },
			switches: { pump: { title: "Pump", on: value > 21, max_seconds: 30 }, "=valve": { title: "=1+1", on: true } },
		});
		const onCall = () => ({ content: [{ type: "text", text: JSON.stringify(status()) }], isError: false });
		const { gateway, device, page } = await openWithDevice(t, { tools: [STATUS_TOOL], onCall });
		const { history } = gateway.gateway.use(historyPlugin);
		assert.ok(history);
		for (value of [21, 22, 23]) {
			const { length } = device.calls;
			await until(async () => {
				// Nothing is read before the last answer has come.
				await history.tick(Date.now() + 86_400_000);
				return device.calls.length > length;
			}, "the gateway reads the status");
		}
		await page.locator(".row .name a").click();
		await page.locator("summary", { hasText: "History" }).click();
		await page.getByRole("img", { name: "Temperature" }).locator("canvas").waitFor();
		await page.getByRole("img", { name: "Pump" }).locator("canvas").waitFor();
		const plots = page.locator(".plots.wide figcaption");
		assert.deepEqual(await plots.allTextContents(), ["Pump ", "=1+1 ", "Temperature °C"], "limits are no history");
		await page.getByRole("img", { name: "Temperature" }).hover();
		await page.locator(".pointed", { hasText: /2[123]\s°C$/ }).waitFor();
		const [download] = await Promise.all([
			page.waitForEvent("download"),
			page.getByRole("button", { name: "Download as CSV" }).click(),
		]);
		const csv = readFileSync(await download.path(), "utf8");
		const [head, ...rows] = csv.split("\r\n");
		assert.equal(head, '\ufeff"time","path","name","value","unit"');
		assert.ok(
			rows.some((row) => row.endsWith('"sensors.temperature.value","Temperature","21","°C"')),
			csv,
		);
		assert.match(csv, /"switches.=valve.on","'=1\+1","1",""/, "no text is a formula");
		const temperatures = rows.filter((row) => row.includes("temperature"));
		const { length } = (await readPoints(gateway.base))["sensors.temperature.value"] ?? [];
		assert.equal(temperatures.length, length, "only what was measured");
		await page.getByRole("button", { name: "7 days" }).click();
		await page.getByRole("button", { name: "7 days", pressed: true }).waitFor();

		gateway.gateway.servers.find(LAMP)?.connection?.close("test");
		await page.locator(".device-head .badge", { hasText: "offline" }).waitFor();
		await page.reload();
		await page.locator("summary", { hasText: "History" }).click();
		await page.getByRole("img", { name: "Temperature" }).locator("canvas").waitFor();
		assert.deepEqual(complaintsOf(page), []);
	});

	it("shows what the device logged while no page was open, and what it logs meanwhile", async (t) => {
		const { device, page, gateway } = await openWithDevice(t);
		device.notify("notifications/message", { level: "warning", data: "the tank is empty" });
		await until(
			async () => (await (await fetch(`${gateway.base}/devices/${LAMP}/log`)).text()).includes("tank"),
			"it is kept",
		);
		await page.locator(".row .name a").click();
		await page.getByText("the tank is empty").waitFor();
		device.notify("notifications/message", { level: "info", data: "the tank is full" });
		await page.getByText("the tank is full").waitFor({ timeout: 5000 });
	});

	it("shows an operator who called and changed what, finds some of it, and gives all of it as a file", async (t) => {
		const gateway = await startConsole(t);
		const onCall = () => ({ content: [{ type: "text", text: "true" }], isError: false });
		await WireDevice.connect(t, gateway, { id: LAMP, tools: [VOLUME], onCall });
		const secret = await gateway.tokens.add({ name: "phone", kind: "client" });
		const client = await connectOverHttp(`${gateway.base}/mcp/${LAMP}`, "2025-11-25", secret);
		t.after(() => client.close());
		await client.callTool({ name: "self_audio_speaker_set_volume", arguments: { volume: 7 } });
		const page = await openSignedIn(t, gateway);
		await page.getByRole("link", { name: "Audit log" }).click();
		const entry = page.locator(".audit li", { hasText: "volume 7" });
		await entry.locator("summary").click();
		await entry.getByText('self.audio_speaker.set_volume {"volume":7}').waitFor();
		assert.match((await entry.textContent()) ?? "", /test-client · phone/);
		await gateway.gateway.servers.edit(LAMP, { alias: "desk" });
		await page.goto(`${gateway.base}/#/devices/desk`);
		await page.getByRole("button", { name: "Name and tags" }).click();
		await page.getByLabel("Name in calls").fill("kitchen");
		await page.getByRole("button", { name: "Save" }).click();
		await page.getByRole("heading", { name: "kitchen" }).waitFor();
		await page.getByRole("link", { name: "Audit log" }).click();
		await page.getByText("renamed desk to kitchen").waitFor();
		await page.getByLabel("From").fill("2100-01-01T00:00");
		await page.getByRole("button", { name: "Show" }).click();
		await page.getByText("Nothing found.").waitFor();
		await page.getByLabel("From").fill("2000-01-01T00:00");
		await page.getByLabel("Token").fill("nobody");
		await page.getByRole("button", { name: "Show" }).click();
		await page.getByText("Nothing found.").waitFor();
		await page.getByLabel("Token").fill("phone");
		await page.getByRole("button", { name: "Show" }).click();
		await entry.waitFor();
		const [download] = await Promise.all([
			page.waitForEvent("download"),
			page.getByRole("link", { name: "Download as JSONL" }).click(),
		]);
		const lines = readFileSync(await download.path(), "utf8")
			.trim()
			.split("\n");
		assert.deepEqual(
			lines.map((line) => (JSON.parse(line) as { principal: string }).principal),
			["phone"],
		);
		assert.deepEqual(complaintsOf(page), []);
	});

	it("says that nothing is kept, if nothing is", async (t) => {
		const { page } = await openWithDevice(t, {}, {}, { historyBytes: 0, auditBytes: 0 });
		await page.locator(".row .name a").click();
		await page.locator("summary", { hasText: "History" }).click();
		await page.getByText("the setting historyBytes is 0").waitFor();
		await page.getByRole("link", { name: "Audit log" }).click();
		await page.getByText("the setting auditBytes is 0").waitFor();
	});
});
