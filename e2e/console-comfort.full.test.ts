import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BOARD, bootstrap } from "xs-mcp-gateway/testing/bootstrap";
import { REBOOT, type WireCall, WireDevice } from "xs-mcp-gateway/testing/gateway";
import { makeFirmwareFolder } from "xs-mcp-gateway/testing/program";
import { VOICE } from "xs-mcp-gateway/testing/voice";
import { whyNoChromium } from "../host-test/support/chromium.js";
import { testWith, until } from "../host-test/support/testing.js";
import { connectOverHttp } from "./clients.js";
import { complaintsOf, LAMP, openConsole, openSignedIn, openWithDevice, startConsole, VOLUME } from "./console-page.js";

const itConsole = testWith(startConsole);

describe("everyday use of the console in Chromium", { skip: whyNoChromium }, () => {
	it("puts favourites first, and leads from a tag to the devices that share it", async (t) => {
		const { gateway, page } = await openWithDevice(t, { board: "zebra" });
		await WireDevice.connect(t, gateway, { id: "aa:bb:cc:00:01:10", board: "antelope" });
		await page.getByText("2 online").waitFor();
		const first = page.locator(".body .row .name a").first();
		assert.match((await first.textContent()) ?? "", /^antelope/);
		const star = page.getByRole("button", { name: /^Favourite: zebra/ });
		await star.click();
		await until(async () => /^zebra/.test((await first.textContent()) ?? ""), "the favourite is first");
		assert.equal(await star.getAttribute("aria-pressed"), "true");
		await gateway.gateway.servers.edit(LAMP, { tags: ["favourite", "kitchen"] });
		// On a slow computer, the next view is there before the last one has ended.
		const browser = await page.context().newCDPSession(page);
		await browser.send("Emulation.setCPUThrottlingRate", { rate: 20 });
		await first.click();
		await page.getByRole("link", { name: "kitchen" }).click();
		await until(async () => (await page.locator(".body .row").count()) === 1, "one device has the tag");
		assert.match(page.url(), /#\/devices\?tag=kitchen$/);
		await star.click();
		await until(
			() => gateway.gateway.servers.find(LAMP)?.tags.join() === "kitchen",
			"it is no favourite any more, and keeps its tag",
		);
		assert.deepEqual(complaintsOf(page), []);
	});

	it("shows the tools of a device as they are now", async (t) => {
		const { device, page } = await openWithDevice(t, { tools: [VOLUME] });
		await page.locator(".row .name a").click();
		await page.getByRole("slider", { name: "Volume" }).waitFor();
		device.changeTools([{ ...VOLUME, name: "self.siren.test", title: "Test siren" }]);
		await page.locator(".tool", { hasText: "Test siren" }).waitFor({ timeout: 20_000 });
	});

	it("stays with a device that gets another name, here or elsewhere", async (t) => {
		const { gateway, page } = await openWithDevice(t);
		await page.locator(".row .name a").click();
		await page.getByRole("button", { name: "Name and tags" }).click();
		await page.getByLabel("Name in calls").fill("Kitchen Lamp");
		await page.getByRole("button", { name: "Save" }).click();
		const field = page.getByLabel("Name in calls");
		await page.getByRole("alert").getByText('a to z, 0 to 9, and single "_" or "-" between them').waitFor();
		await WireDevice.connect(t, gateway, { id: "aa:bb:cc:00:01:10", board: "antelope" });
		await gateway.gateway.servers.edit("aa:bb:cc:00:01:10", { alias: "taken" });
		await field.fill("taken");
		await page.getByRole("button", { name: "Save" }).click();
		await page.getByRole("alert").getByText("alias taken: already assigned to").waitFor();
		await field.fill("kitchen-lamp");
		await page.getByRole("button", { name: "Save" }).click();
		await page.getByRole("heading", { name: "kitchen-lamp" }).waitFor();
		await until(() => page.url().endsWith("#/devices/kitchen-lamp"), "the address follows");
		await gateway.gateway.servers.edit(LAMP, { alias: "hall-lamp" });
		await page.getByRole("heading", { name: "hall-lamp" }).waitFor();
		await until(() => page.url().endsWith("#/devices/hall-lamp"), "the address follows again");
		await page.getByRole("button", { name: "Name and tags" }).click();
		await page.getByLabel("Name", { exact: true }).fill("キッチンの<b>ライト</b>");
		await page.getByLabel("Tags and rooms").fill("厨房, Living room");
		await page.getByRole("button", { name: "Save" }).click();
		await page.getByRole("heading", { name: "キッチンの<b>ライト</b>" }).waitFor();
		await page.getByRole("link", { name: "Living room" }).click();
		await page.getByRole("link", { name: "キッチンの<b>ライト</b>" }).waitFor();
		assert.deepEqual(complaintsOf(page), []);
	});

	it("has keyboard shortcuts, and a sheet that tells them", async (t) => {
		const { page } = await openWithDevice(t);
		await page.locator(".row .name a").waitFor();
		await page.keyboard.press("?");
		const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
		await sheet.getByText("Search devices").waitFor();
		await page.keyboard.press("Escape");
		await sheet.waitFor({ state: "hidden" });
		await page.keyboard.press("g");
		await page.keyboard.press("c");
		await page.getByRole("heading", { name: "Clients", exact: true }).waitFor();
		await page.keyboard.press("g");
		await page.keyboard.press("d");
		await page.getByRole("searchbox").waitFor();
		await page.keyboard.press("/");
		await page.keyboard.type("g c?");
		assert.equal(await page.getByRole("searchbox").inputValue(), "g c?");
		assert.deepEqual(complaintsOf(page), []);
	});

	it("shows an operator what is on, where it was set, and speech to try", async (t) => {
		const { page } = await openWithDevice(t, {}, {}, { speechCommand: VOICE });
		await page.locator(".row .name a").waitFor();
		await page.keyboard.press("g");
		await page.keyboard.press("s");
		const features = page.getByRole("region", { name: "Features" });
		await features
			.getByRole("listitem")
			.filter({ hasText: "Speech on devices" })
			.getByText("--speech-command")
			.waitFor();
		await features.getByText("Off · set --microphones").waitFor();
		const settings = page.getByRole("region", { name: "Settings of the gateway" });
		await settings.getByText("userTools").waitFor();
		assert.equal(await settings.getByText("quietHours").count(), 0);
		await settings.getByRole("button", { name: "All" }).click();
		await settings.getByText("quietHours").waitFor();
		await page.getByLabel("Text to say").fill("hello");
		await page.getByRole("button", { name: "Say", exact: true }).click();
		await page.locator(".notice").waitFor();
		await page.getByLabel("Language").selectOption("ja");
		await page.getByRole("heading", { name: "設定", exact: true }).waitFor();
		assert.deepEqual(complaintsOf(page), []);
	});

	it("titles tools in the language of the page, unless a maker titled them otherwise", async (t) => {
		const tools = [VOLUME, { ...VOLUME, name: "self.radio.set_volume", title: "Radio louder" }];
		const { page } = await openWithDevice(t, { tools }, { locale: "zh-CN" });
		await page.locator(".row .name a").click();
		await page.locator(".tool summary", { hasText: "设置音量" }).waitFor();
		await page.locator(".tool summary", { hasText: "Radio louder" }).waitFor();
	});

	itConsole("shows the tools that a token may not call, and why", async (gateway, t) => {
		await WireDevice.connect(t, gateway, { id: LAMP, tools: [VOLUME, { ...REBOOT, title: "Restart device" }] });
		const token = { name: "guest", kind: "client" } as const;
		const page = await openSignedIn(t, { ...gateway, secret: await gateway.tokens.add(token) });
		await page.locator(".row .name a").click();
		const locked = page.getByRole("region", { name: "For people only" });
		await locked.getByText("Restart device").waitFor();
		await locked.getByText("Your token may not call these").waitFor();
		assert.equal(await page.locator(".tool").count(), 1);
		const operator = await openSignedIn(t, gateway);
		await operator.locator(".row .name a").click();
		await operator.locator(".tool", { hasText: "Restart device" }).waitFor();
		assert.equal(await operator.getByText("For people only").count(), 0);
	});

	it("lets an operator restart a device, and update it to the version that the dialog names", async (t) => {
		const files = { "lamp_1.1.0.bin": "new", "lamp_1.1.0.bin.txt": "The lamp is brighter.\n" };
		const gateway = await startConsole(t, { firmwareFolder: makeFirmwareFolder(files) });
		const inputSchema = { type: "object", properties: { url: { type: "string" } }, required: ["url"] };
		const upgrade = { ...REBOOT, name: "self.upgrade_firmware", inputSchema };
		const onCall = () => ({ content: [{ type: "text", text: "true" }], isError: false });
		const device = await WireDevice.connect(t, gateway, { id: LAMP, tools: [REBOOT, upgrade], onCall });
		const page = await openSignedIn(t, gateway);
		await page.locator(".row .name a").click();
		await page.getByRole("button", { name: "Restart" }).click();
		await page.getByRole("dialog").getByRole("button", { name: "Restart" }).click();
		await until(() => device.calls.length === 1, "the device restarts");
		await page.getByRole("button", { name: "Update firmware" }).click();
		await page.getByText("Update lamp_000001 from 1.0.0 to 1.1.0?").waitFor();
		await page.getByText("The lamp is brighter.", { exact: true }).waitFor();
		await page.getByRole("dialog").getByRole("button", { name: "Update firmware" }).click();
		await until(() => device.calls.length === 2, "the device gets its update");
		const [{ name: first }, { name, arguments: args }] = device.calls as [WireCall, WireCall];
		assert.deepEqual([first, name], [REBOOT.name, upgrade.name]);
		assert.equal(await (await fetch(String(args?.url))).text(), "new");
		const key = new URL(String(args?.url)).searchParams.get("key");
		assert.ok(key);
		await page.locator(".log summary", { hasText: "self.upgrade_firmware" }).waitFor();
		assert.equal((await page.content()).includes(key), false, "the key of the download is not shown");
		const headers = { Authorization: `Bearer ${gateway.secret}` };
		const audit = await (await fetch(`${gateway.base}/audit`, { headers })).text();
		assert.match(audit, /self\.upgrade_firmware/);
		assert.equal(audit.includes(key), false, "nor is it in the audit log");
		assert.deepEqual(complaintsOf(page), []);
	});

	it("offers names, tags, favourites and approvals to an operator alone", async (t) => {
		const gateway = await startConsole(t, { bootstrap: "approve" });
		const token = await gateway.tokens.add({ name: "lamp", kind: "device" });
		await WireDevice.connect(t, gateway, { id: LAMP, tools: [VOLUME], token });
		await gateway.gateway.servers.edit(LAMP, { tags: ["favourite"] });
		await bootstrap(gateway, BOARD);
		const secret = await gateway.tokens.add({ name: "guest", kind: "client" });
		for (const [isOperator, page] of [
			[true, await openSignedIn(t, gateway)],
			[false, await openSignedIn(t, { ...gateway, secret })],
		] as const) {
			const star = page.getByRole("button", { name: /^Favourite/ });
			await star.waitFor();
			assert.equal(await star.isEnabled(), isOperator);
			await page.getByRole("heading", { name: "Waiting for approval" }).waitFor({
				state: isOperator ? "visible" : "detached",
			});
			await page.locator(".row .name a").click();
			await page.getByRole("button", { name: "Disconnect" }).waitFor();
			assert.equal(await page.getByRole("button", { name: "Name and tags" }).count(), Number(isOperator));
		}
	});

	itConsole("marks which client has the page's own token", async (gateway, t) => {
		const client = await connectOverHttp(`${gateway.base}/mcp`, "2025-11-25", gateway.secret);
		t.after(() => client.close());
		const page = await openSignedIn(t, gateway);
		await page.getByRole("link", { name: "Clients" }).click();
		await page
			.getByRole("row", { name: /test-client/ })
			.getByText("your token")
			.waitFor();
	});

	itConsole("says in words what is wrong with a token's name", async (gateway, t) => {
		const page = await openConsole(t, gateway.base, { locale: "ja-JP" });
		await page.locator("input[name=token]").fill(gateway.secret);
		await page.keyboard.press("Enter");
		await page.locator("nav a[href='#/clients']").click();
		await page.locator("form.token input[name=name]").fill("my phone");
		await page.locator("form.token button[type=submit]").click();
		await page.getByRole("alert").getByText("英").waitFor();
	});
});
