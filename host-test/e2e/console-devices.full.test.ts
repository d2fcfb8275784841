import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { WireDevice } from "../../gateway/test/support/gateway.js";
import { makeStateFolder } from "../../gateway/test/support/program.js";
import { whyNoChromium } from "../support/chromium.js";
import { until } from "../support/until.js";
import { complaintsOf, LAMP, openConsole, openWithDevice, startWithConsole, VOLUME } from "./console-page.js";

/** Chooses what to do with the selected devices, as a person does: by its text, once that stays in its place. */
async function choose(page: Page, work: string): Promise<void> {
	const radio = page.getByRole("radio", { name: work, exact: true });
	await page.locator("label").filter({ has: radio }).click();
	await until(() => radio.isChecked(), `${work} is chosen`);
}

describe("many devices in the console in Chromium", { skip: whyNoChromium }, () => {
	it("shows fifty devices, those with problems first, and finds one", async (t) => {
		const { gateway, page } = await openWithDevice(t);
		const ids = Array.from({ length: 49 }, (_, index) => `aa:bb:cc:00:01:${index + 10}`);
		await Promise.all(ids.map((id) => WireDevice.connect(t, gateway, { id, board: "sensor" })));
		await page.getByText("50 online").waitFor();
		gateway.gateway.servers.find("aa:bb:cc:00:01:44")?.session?.close("test");
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
		const newest = () => gateway.gateway.events?.recent(LAMP, access, 1)[0]?.name;
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

	it("works on many devices at once, and names those that fail", async (t) => {
		const { gateway, page } = await openWithDevice(t);
		const { servers } = gateway.gateway;
		const ids = Array.from({ length: 12 }, (_, index) => `aa:bb:cc:00:01:${index + 10}`);
		const onCall =
			({ id }: { id: string }) =>
			() => ({
				content: [{ type: "text", text: id.endsWith("15") ? "jammed" : "true" }],
				isError: id.endsWith("15"),
			});
		await Promise.all(
			ids.map((id) => WireDevice.connect(t, gateway, { id, board: "sensor", tools: [VOLUME], onCall: onCall({ id }) })),
		);
		await page.getByRole("searchbox").fill("sensor");
		await page.getByRole("button", { name: "Select all 12" }).click();
		await page.getByRole("heading", { name: "12 selected" }).waitFor();
		await page.getByRole("combobox", { name: "Tool", exact: true }).selectOption({ label: "Set volume" });
		await page.getByLabel("volume", { exact: true }).fill("33");
		await page.getByRole("button", { name: "Call a tool: 12 devices" }).click();
		await page.getByText("11 of 12 done, 1 failed").waitFor();
		assert.match((await page.locator(".steps li").first().textContent()) ?? "", /^sensor_\w+ jammed$/);

		await page.getByText("Rename", { exact: true }).click();
		assert.equal(await page.locator(".steps li").count(), 0, "what became of other work is gone");
		await page.getByLabel("Name pattern").fill("hall_{nn}");
		await page.getByRole("button", { name: "Rename: 12 devices" }).click();
		await page.getByText("12 of 12 done, 0 failed").waitFor();
		assert.deepEqual(
			ids.map((id) => servers.find(id)?.alias).sort(),
			ids.map((_, at) => `hall_${String(at + 1).padStart(2, "0")}`),
		);

		await choose(page, "Tags");
		await page.getByLabel("Add tags").fill("hall upstairs");
		await page.getByRole("button", { name: "Tags: 12 devices" }).click();
		await until(() => ids.every((id) => servers.find(id)?.tags.join() === "hall,upstairs"), "all have the tags");
		await page.getByRole("searchbox").fill("");
		await page.getByRole("combobox", { name: "Tags" }).selectOption("hall");
		await until(async () => (await page.locator(".body .row").count()) === 12, "the table shows the tag alone");

		// Only what is offline can be forgotten.
		servers.find("hall_01")?.session?.close("test");
		await until(() => servers.find("hall_01")?.online === false, "one is offline");
		await choose(page, "Forget");
		await page.getByRole("button", { name: "Forget: 12 devices" }).click();
		await page.getByRole("dialog").getByRole("button", { name: "Forget: 12 devices" }).click();
		await page.getByText("1 of 12 done, 11 failed").waitFor();
		assert.equal(servers.find("hall_01"), undefined);

		await page.getByRole("button", { name: "Select all 11" }).click();
		await page.getByRole("heading", { name: "11 selected" }).waitFor();
		await choose(page, "Disconnect");
		await page.getByRole("button", { name: "Disconnect: 11 devices" }).click();
		await page.getByText("11 of 11 done, 0 failed").waitFor();
		await until(() => ids.every((id) => !servers.find(id)?.online), "all are offline");
		assert.deepEqual(complaintsOf(page), []);
	});

	it("installs newer firmware on many devices, and says which have nothing newer, and which cannot", async (t) => {
		const firmwareFolder = makeStateFolder();
		writeFileSync(join(firmwareFolder, "sensor_1.1.0.bin"), "new");
		const gateway = await startWithConsole(t, { userTools: ["*"], firmwareFolder });
		const connect = (index: number, version: string, tools: object[]) =>
			WireDevice.connect(t, gateway, { id: `aa:bb:cc:00:01:${index}`, board: "sensor", version, tools });
		const old = await Promise.all([10, 11, 12].map((index) => connect(index, "1.0.0", [UPGRADE])));
		const current = await connect(13, "1.1.0", [UPGRADE]);
		await connect(14, "1.0.0", [VOLUME]);
		const page = await openConsole(t, gateway.base);
		await page.getByRole("button", { name: "Select all 5" }).click();
		await choose(page, "Update firmware");
		await page.getByRole("button", { name: "Update firmware: 5 devices" }).click();
		await page.getByRole("dialog").getByRole("button", { name: "Update firmware: 5 devices" }).click();
		await page.getByText("4 of 5 done, 1 failed").waitFor();
		const steps = await page.locator(".steps li").allTextContents();
		assert.match(steps[0] ?? "", /^sensor_\w+ It has no tool that installs firmware/);
		assert.equal(steps.filter((step) => step.includes("has no newer firmware")).length, 1);
		assert.deepEqual(current.calls, []);
		for (const device of old) {
			const [call] = device.calls;
			assert.equal(call?.name, UPGRADE.name);
			assert.equal(await (await fetch(String(call?.arguments.url))).text(), "new");
		}
		assert.deepEqual(complaintsOf(page), []);
	});
});

const UPGRADE = {
	name: "self.upgrade_firmware",
	description: "Install firmware.",
	inputSchema: { type: "object", properties: { url: { type: "string" } }, required: ["url"] },
	annotations: { audience: ["user"] },
};
