import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { WireDevice, type WireDeviceOptions } from "../../gateway/test/support/gateway.js";
import { makeStateFolder, startProgram } from "../../gateway/test/support/program.js";
import { bundleConsole } from "../../toolchain/page-bundles.js";
import { whyNoChromium } from "../support/chromium.js";
import { freePort } from "../support/port.js";
import { until } from "../support/until.js";
import { complaintsOf, openConsole, openSignedIn, startConsole } from "./console-page.js";
import { ENGINES, startDevice } from "./fixtures.js";

// The console in Chromium, beyond the first day: console.test.ts.

const LAMP = "aa:bb:cc:00:00:01";

/** Runs an expression in the page, from outside of its policy. */
async function inPage<T>(page: Page, expression: string): Promise<T> {
	const session = await page.context().newCDPSession(page);
	const answer = await session.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
	await session.detach();
	assert.equal(answer.exceptionDetails, undefined, JSON.stringify(answer.exceptionDetails));
	return answer.result.value as T;
}

/** Chooses what to do with the selected devices, as a person does: by its text, once that stays in its place. */
async function choose(page: Page, work: string): Promise<void> {
	const radio = page.getByRole("radio", { name: work, exact: true });
	await page.locator("label").filter({ has: radio }).click();
	await until(() => radio.isChecked(), `${work} is chosen`);
}

async function expectNothingCutOff(page: Page, what: string): Promise<void> {
	const width = await inPage<number>(page, "document.documentElement.scrollWidth - innerWidth");
	assert.ok(width <= 0, `${what}: ${width} px wider than the window`);
}

/** Opens the console of a gateway without tokens, with a device that a test speaks for. */
async function openWithDevice(t: TestContext, options: WireDeviceOptions = {}, pageOptions = {}) {
	const consoleFolder = await bundleConsole();
	const gateway = await startProgram(t, { userTools: ["*"] }, undefined, { consoleFolder });
	const device = await WireDevice.connect(t, gateway, { id: LAMP, ...options });
	const page = await openConsole(t, gateway.base, pageOptions);
	return { gateway, device, page };
}

describe("the console in Chromium, in full", { skip: whyNoChromium }, () => {
	it("makes a token, whose page says so when it is revoked", async (t) => {
		const gateway = await startConsole(t);
		const page = await openSignedIn(t, gateway);
		await page.getByRole("link", { name: "Clients and servers" }).click();
		await page.getByRole("textbox", { name: "Name" }).fill("kiosk");
		await page.getByRole("button", { name: "Create" }).click();
		const secret = (await page.locator(".banner pre").textContent()) ?? "";
		assert.match(secret, /^xsmcp_/);
		const other = await openSignedIn(t, { ...gateway, secret });
		await page.locator("li", { hasText: "kiosk" }).getByRole("button", { name: "Revoke" }).click();
		await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
		await other.getByText("Your session has ended").waitFor();
		await other.locator("input[name=token]").fill(secret);
		await other.getByRole("button", { name: "Sign in" }).click();
		await other.getByText("does not know this token").waitFor();
	});

	it("asks before the first token for clients, an operator's, and shows it beside the sign-in", async (t) => {
		const { gateway, page } = await openWithDevice(t);
		await page.getByRole("link", { name: "Clients and servers" }).click();
		assert.equal(await page.getByLabel("Only these devices").count(), 0);
		await page.getByRole("textbox", { name: "Name" }).fill("first");
		await page.getByRole("button", { name: "Create" }).click();
		await page.getByRole("dialog").getByText("From now on every client needs one").waitFor();
		assert.equal(gateway.tokens.needs("client"), false);
		await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
		await page.getByText("From now on this page needs a token").waitFor();
		const secret = (await page.locator(".banner pre").textContent()) ?? "";
		assert.match(secret, /^xsmcp_/);
		await page.locator("input[name=token]").fill(secret);
		await page.getByRole("button", { name: "Sign in" }).click();
		await page.locator("li", { hasText: "first" }).getByText("operator").waitFor();
		await page.locator("li", { hasText: "first" }).getByRole("button", { name: "Revoke" }).click();
		await page.getByRole("dialog").getByText("This page is signed in with it").waitFor();
		await page.getByRole("dialog").getByText("last operator's token").waitFor();
		await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
		assert.equal(gateway.tokens.has("client"), true);
		assert.deepEqual(complaintsOf(page), []);
	});

	it("stays signed in with its own token when it makes another one", async (t) => {
		const gateway = await startConsole(t);
		const page = await openSignedIn(t, gateway);
		await page.getByRole("link", { name: "Clients and servers" }).click();
		await page.getByRole("textbox", { name: "Name" }).fill("kiosk");
		await page.getByLabel("Only these devices").fill("02:00:00:00:00:99");
		await page.getByRole("button", { name: "Create" }).click();
		await page.getByText("unknown device 02:00:00:00:00:99").waitFor();
		await page.getByLabel("Only these devices").fill("");
		await page.getByRole("button", { name: "Create" }).click();
		await page.locator("li", { hasText: "kiosk" }).getByRole("button", { name: "Revoke" }).waitFor();
		assert.equal(await page.getByRole("button", { name: "Sign out" }).getAttribute("title"), "operator");
	});

	it("asks before the first token for devices, and names those that it disconnects", async (t) => {
		const { gateway, page } = await openWithDevice(t);
		const server = gateway.gateway.servers.find(LAMP);
		await page.getByRole("link", { name: "Clients and servers" }).click();
		await page.getByRole("textbox", { name: "Name" }).fill("board");
		await page.getByRole("combobox", { name: "For" }).selectOption({ label: "a device" });
		await page.getByRole("button", { name: "Create" }).click();
		await page.getByRole("dialog").getByText(`Disconnected at once (1): ${server?.alias}`).waitFor();
		await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
		assert.equal(gateway.tokens.needs("device"), false);
		assert.equal(server?.online, true);
	});

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
		await page.getByRole("link", { name: /^lamp/ }).waitFor();
		assert.equal(await page.locator(".body .row").count(), 1);
		assert.equal(await page.getByRole("table").getAttribute("aria-rowcount"), "2");
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
		await page.getByRole("button", { name: "Run on 12 devices" }).click();
		await page.getByText("11 of 12 done, 1 failed").waitFor();
		assert.match((await page.locator(".steps li").first().textContent()) ?? "", /^sensor_\w+ jammed$/);

		await page.getByText("Rename", { exact: true }).click();
		await page.getByLabel("Pattern").fill("hall_{nn}");
		await page.getByRole("button", { name: "Run on 12 devices" }).click();
		await page.getByText("12 of 12 done, 0 failed").waitFor();
		assert.deepEqual(
			ids.map((id) => servers.find(id)?.alias).sort(),
			ids.map((_, at) => `hall_${String(at + 1).padStart(2, "0")}`),
		);

		await choose(page, "Tags");
		await page.getByLabel("Add tags").fill("hall upstairs");
		await page.getByRole("button", { name: "Run on 12 devices" }).click();
		await until(() => ids.every((id) => servers.find(id)?.tags.join() === "hall,upstairs"), "all have the tags");
		await page.getByRole("searchbox").fill("");
		await page.getByRole("combobox", { name: "Tags" }).selectOption("hall");
		await until(async () => (await page.locator(".body .row").count()) === 12, "the table shows the tag alone");

		// Only what is offline can be forgotten.
		servers.find("hall_01")?.session?.close("test");
		await until(() => servers.find("hall_01")?.online === false, "one is offline");
		await choose(page, "Forget");
		await page.getByRole("button", { name: "Run on 12 devices" }).click();
		await page.getByRole("dialog").getByRole("button", { name: "Run on 12 devices" }).click();
		await page.getByText("1 of 12 done, 11 failed").waitFor();
		assert.equal(servers.find("hall_01"), undefined);

		await page.getByRole("button", { name: "Select all 11" }).click();
		await page.getByRole("heading", { name: "11 selected" }).waitFor();
		await choose(page, "Disconnect");
		await page.getByRole("button", { name: "Run on 11 devices" }).click();
		await page.getByText("11 of 11 done, 0 failed").waitFor();
		await until(() => ids.every((id) => !servers.find(id)?.online), "all are offline");
		assert.deepEqual(complaintsOf(page), []);
	});

	it("installs newer firmware on many devices, and says which have nothing newer, and which cannot", async (t) => {
		const firmwareFolder = makeStateFolder();
		writeFileSync(join(firmwareFolder, "sensor_1.1.0.bin"), "new");
		const gateway = await startProgram(t, { userTools: ["*"], firmwareFolder }, undefined, {
			consoleFolder: await bundleConsole(),
		});
		const connect = (index: number, version: string, tools: object[]) =>
			WireDevice.connect(t, gateway, { id: `aa:bb:cc:00:01:${index}`, board: "sensor", version, tools });
		const old = await Promise.all([10, 11, 12].map((index) => connect(index, "1.0.0", [UPGRADE])));
		const current = await connect(13, "1.1.0", [UPGRADE]);
		await connect(14, "1.0.0", [VOLUME]);
		const page = await openConsole(t, gateway.base);
		await page.getByRole("button", { name: "Select all 5" }).click();
		await choose(page, "Update firmware");
		await page.getByRole("button", { name: "Run on 5 devices" }).click();
		await page.getByRole("dialog").getByRole("button", { name: "Run on 5 devices" }).click();
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

	it("shows a read-only token what it may see, and no buttons that change something", async (t) => {
		const gateway = await startConsole(t, { bootstrap: "approve" });
		const token = await gateway.tokens.add({ name: "lamp", kind: "device" });
		const reader = {
			name: "self.get_device_status",
			description: "Status.",
			inputSchema: { type: "object", properties: {} },
		};
		await WireDevice.connect(t, gateway, { id: LAMP, token, tools: [VOLUME, reader] });
		const secret = await gateway.tokens.add({ name: "wall", kind: "client", readOnly: true });
		const page = await openSignedIn(t, { ...gateway, secret });
		await page.getByText("Your token is read-only").waitFor();
		await page.getByRole("link", { name: /^lamp/ }).click();
		await page.getByText("Get device status").first().waitFor();
		assert.equal(await page.getByText("Set volume").count(), 0);
		for (const name of ["Name and tags", "Disconnect", "Forget"]) {
			assert.equal(await page.getByRole("button", { name }).count(), 0, name);
		}
	});

	it("shows two windows the same, and signs both out", async (t) => {
		const gateway = await startConsole(t);
		const token = await gateway.tokens.add({ name: "lamp", kind: "device" });
		await WireDevice.connect(t, gateway, { id: LAMP, token, tools: [VOLUME] });
		const first = await openSignedIn(t, gateway);
		const second = await first.context().newPage();
		await second.goto(`${gateway.base}/`);
		await first.getByRole("link", { name: /^lamp/ }).click();
		await first.getByRole("button", { name: "Name and tags" }).click();
		await first.getByRole("textbox", { name: "Name" }).fill("porch");
		await first.getByRole("button", { name: "Save" }).click();
		await second.getByRole("link", { name: "porch" }).waitFor();
		await first.getByRole("heading", { name: "porch" }).waitFor();
		await first.getByRole("button", { name: "Sign out" }).click();
		await second.getByText("Your session has ended").waitFor();
	});

	it("says so when its cookie is no longer valid, and signs in again", async (t) => {
		const gateway = await startConsole(t);
		const page = await openSignedIn(t, gateway);
		await page.getByRole("heading", { name: "No device yet" }).waitFor();
		await page.context().clearCookies();
		await page.getByRole("link", { name: "Clients and servers" }).click();
		await page.getByText("Your session has ended").waitFor();
		await page.locator("input[name=token]").fill(gateway.secret);
		await page.keyboard.press("Enter");
		await page.getByRole("heading", { name: "New token" }).waitFor();
		assert.deepEqual(complaintsOf(page), []);
	});

	it("can be used with the keyboard alone", async (t) => {
		const gateway = await startConsole(t);
		const device = await WireDevice.connect(t, gateway, { id: LAMP, tools: [VOLUME] });
		const page = await openConsole(t, gateway.base);
		const tabTo = async (what: string): Promise<void> => {
			for (let count = 0; count < 40; count += 1) {
				await page.keyboard.press("Tab");
				if (await inPage(page, `document.activeElement.matches(${JSON.stringify(what)})`)) {
					return;
				}
			}
			assert.fail(`Tab does not reach ${what}`);
		};
		await page.locator("input[name=token]").waitFor();
		await tabTo("input[name=token]");
		await page.keyboard.type(gateway.secret);
		await page.keyboard.press("Enter");
		await page.getByRole("link", { name: /^lamp/ }).waitFor();
		await tabTo(".row .name a");
		await page.keyboard.press("Enter");
		await page.getByLabel("volume", { exact: true }).waitFor();
		await tabTo("input[type=range]");
		for (let count = 0; count < 5; count += 1) {
			await page.keyboard.press("ArrowRight");
		}
		await until(() => device.calls.at(-1)?.arguments?.volume === 55, "five steps of the slider are at the device");
		await page.getByText(/^Done in/).waitFor();
	});

	for (const colorScheme of ["light", "dark"] as const) {
		it(`has no fault that axe-core finds, ${colorScheme}`, async (t) => {
			const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
			const gateway = await startConsole(t, { bootstrap: "approve" });
			const page = await openConsole(t, gateway.base, { colorScheme });
			const check = async (name: string): Promise<void> => {
				await inPage(page, `${axe}; 0`);
				const found = await inPage<{ id: string; nodes: { html: string }[] }[]>(
					page,
					"axe.run().then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) })))",
				);
				const said = found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" ")}`);
				assert.deepEqual(said, [], name);
			};
			await page.locator("input[name=token]").waitFor();
			await check("sign-in");
			await page.locator("input[name=token]").fill(gateway.secret);
			await page.keyboard.press("Enter");
			await page.getByRole("heading", { name: "No device yet" }).waitFor();
			await check("empty");
			const [engine] = ENGINES;
			const backend = gateway.deviceUrl;
			const token = await gateway.tokens.add({ name: "device", kind: "device" });
			await startDevice(t, engine as (typeof ENGINES)[number], { config: { backend, token } });
			await page.getByRole("link", { name: /^virtual_/ }).waitFor();
			gateway.gateway.servers.reject("somebody: unknown token");
			await page.getByText("Rejected in the last minutes").click();
			await check("devices");
			await page.getByRole("link", { name: /^virtual_/ }).click();
			await page.getByRole("button", { name: "Take photo" }).click();
			await page.locator("figure img").waitFor();
			await page.getByText("Set light").click();
			await check("device");
			await page.getByRole("link", { name: "Clients and servers" }).click();
			await page.getByRole("heading", { name: "New token" }).waitFor();
			await check("clients");
			await page.getByRole("link", { name: "Connect a client" }).click();
			await check("connect");
			assert.deepEqual(complaintsOf(page), []);
		});
	}

	for (const { locale, devices, tools } of [
		{ locale: "en-US", devices: "Devices", tools: "Tools" },
		{ locale: "ja-JP", devices: "デバイス", tools: "ツール" },
		{ locale: "zh-CN", devices: "设备", tools: "工具" },
	]) {
		for (const width of [360, 1280, 1600]) {
			it(`fits ${width} pixels in ${locale}`, async (t) => {
				const options = { locale, viewport: { width, height: 800 } };
				const { page } = await openWithDevice(t, { tools: [VOLUME, COLOUR] }, options);
				await page.getByRole("heading", { name: devices }).waitFor();
				await expectNothingCutOff(page, "devices");
				await page.locator(".row .name a").click();
				await page.getByRole("heading", { name: tools }).waitFor();
				await expectNothingCutOff(page, "device");
				for (const view of ["clients", "connect"]) {
					await page.locator(`nav a[href='#/${view}']`).click();
					await page.locator("main h1").waitFor();
					await expectNothingCutOff(page, view);
				}
			});
		}
	}

	it("shows the text of a device that attacks, and nothing else", async (t) => {
		const { gateway, page } = await openWithDevice(t, {
			board: ATTACK,
			version: ATTACK,
			tools: [HOSTILE, VOLUME],
			onCall: () => ({ content: HOSTILE_CONTENT, isError: false }),
		});
		gateway.gateway.servers.reject(`${ATTACK}\u202e`);
		await page.locator(".row .name a").click();
		await page.getByText("\\u202ereversed").first().waitFor();
		await page.locator(".tool summary").first().click();
		await page.getByRole("button", { name: "Call", exact: true }).first().click();
		await page.getByRole("dialog").getByRole("button", { name: "Call" }).click();
		await page.getByText(/^Done in/).waitFor();
		assert.match((await page.locator(".result pre").first().textContent()) ?? "", /<img src=x onerror=.*␛\[2J/);
		await until(async () => (await page.getByText("This is not a picture.").count()) === 2, "neither is one");
		assert.equal(await inPage(page, "window.attacked"), undefined);
		assert.equal(await inPage(page, "document.scripts.length"), 1);
		await page.getByRole("link", { name: "← Devices" }).click();
		await page.getByText("Rejected in the last minutes").click();
		await page.getByText("onerror").first().waitFor();
		assert.equal(await inPage(page, "window.attacked"), undefined);
		assert.deepEqual(complaintsOf(page), []);
	});

	it("says that the gateway is lost, and goes on when it is back", async (t) => {
		const consoleFolder = await bundleConsole();
		const [httpPort, websocketPort] = [await freePort(), await freePort()];
		const first = await startProgram(t, { httpPort, websocketPort }, undefined, { consoleFolder });
		await WireDevice.connect(t, first, { id: LAMP });
		const page = await openConsole(t, first.base);
		await page.getByRole("link", { name: /^lamp/ }).waitFor();
		await first.program.close();
		await page.getByText("The gateway cannot be reached").waitFor();
		const second = await startProgram(t, { httpPort, websocketPort }, first.stateFolder, { consoleFolder });
		await page.getByText("The gateway cannot be reached").waitFor({ state: "hidden" });
		await page.locator(".row .state", { hasText: "offline" }).waitFor();
		await WireDevice.connect(t, second, { id: LAMP });
		await page.locator(".row .state", { hasText: "online" }).waitFor();
	});
});

const VOLUME = {
	name: "self.audio_speaker.set_volume",
	title: "Set volume",
	description: "Set the volume.",
	inputSchema: {
		type: "object",
		properties: { volume: { type: "integer", minimum: 0, maximum: 100 } },
		required: ["volume"],
	},
	annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
};

const UPGRADE = {
	name: "self.upgrade_firmware",
	description: "Install firmware.",
	inputSchema: { type: "object", properties: { url: { type: "string" } }, required: ["url"] },
	annotations: { audience: ["user"] },
};

const COLOUR = {
	name: "self.light.set",
	description: "x".repeat(300),
	inputSchema: {
		type: "object",
		properties: {
			color: { type: "string", description: "The colour as #rrggbb" },
			mode: { enum: ["blink", "steady", "breathe"] },
			on: { type: "boolean" },
			extra: { type: "object" },
		},
	},
};

const ATTACK = '<img src=x onerror="window.attacked=1">\u202ereversed';

const HOSTILE = {
	name: "self.hostile",
	title: `<script>window.attacked=2</script>\u202ereversed${"w".repeat(500)}`,
	description: `${ATTACK}${"\u0007".repeat(50)}`,
	inputSchema: {
		type: "object",
		properties: Object.fromEntries(
			Array.from({ length: 30 }, (_, index) => [`${ATTACK}${index}`, { enum: [ATTACK, "b"], description: ATTACK }]),
		),
	},
};

const HOSTILE_CONTENT = [
	{ type: "text", text: `${ATTACK}\u001b[2J${"long ".repeat(10_000)}` },
	{ type: "image", mimeType: "image/svg+xml", data: "PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+" },
	{ type: "image", mimeType: "image/jpeg", data: "bm8gcGljdHVyZQ==" },
];
