import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { WireDevice } from "xs-mcp-gateway/testing/gateway";
import type { StartedProgram } from "xs-mcp-gateway/testing/program";
import { whyNoChromium } from "../host-test/support/chromium.js";
import { freePort, until } from "../host-test/support/testing.js";
import {
	complaintsOf,
	LAMP,
	openConsole,
	openSignedIn,
	openWithDevice,
	startConsole,
	startWithConsole,
	VOLUME,
} from "./console-page.js";
import { ENGINE, startDevice } from "./fixtures.js";

/** Runs an expression in the page, from outside of its policy. */
async function inPage<T>(page: Page, expression: string): Promise<T> {
	const session = await page.context().newCDPSession(page);
	const answer = await session.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
	await session.detach();
	assert.equal(answer.exceptionDetails, undefined, JSON.stringify(answer.exceptionDetails));
	return answer.result.value as T;
}

async function expectNothingCutOff(page: Page, what: string): Promise<void> {
	const width = await inPage<number>(page, "document.documentElement.scrollWidth - innerWidth");
	assert.ok(width <= 0, `${what}: ${width} px wider than the window`);
}

describe("the console in Chromium, in full", { skip: whyNoChromium }, () => {
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
		await page.getByRole("slider", { name: "Volume" }).waitFor();
		await tabTo("input[type=range]");
		for (let count = 0; count < 5; count += 1) {
			await page.keyboard.press("ArrowRight");
		}
		await until(() => device.calls.at(-1)?.arguments?.volume === 55, "five steps of the slider are at the device");
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
			const backend = gateway.deviceUrl;
			const token = await gateway.tokens.add({ name: "device", kind: "device" });
			await startDevice(t, ENGINE, { config: { backend, token } });
			await page.getByRole("link", { name: /^virtual_/ }).waitFor();
			// More than fit, so that the list scrolls.
			for (let device = 1; device <= 30; device += 1) {
				gateway.gateway.servers.reject(`device ${device}: unknown token`);
			}
			await page.getByRole("link", { name: "Home" }).click();
			await page.getByRole("switch", { name: "Light" }).waitFor();
			await check("home");
			await page.getByRole("link", { name: "Devices" }).click();
			await page.getByText("Rejected in the last minutes").click();
			await check("devices");
			await page.getByRole("link", { name: /^virtual_/ }).click();
			await page.getByRole("button", { name: "Take photo" }).click();
			await page.locator("figure img").waitFor();
			await page.getByText("Set light").click();
			await page.locator("summary", { hasText: "History" }).click();
			await page.locator(".plots.wide").waitFor({ state: "attached" });
			await check("device");
			await page.getByRole("link", { name: "Clients" }).click();
			await page.getByRole("heading", { name: "New token" }).waitFor();
			await check("clients");
			await page.locator("nav a[href='#/connect']").click();
			await check("connect");
			await page.getByRole("link", { name: "Audit log" }).click();
			await page.getByRole("heading", { name: "Audit log" }).waitFor();
			await check("audit");
			await page.getByRole("link", { name: "Settings" }).click();
			await page.getByRole("button", { name: "All" }).click();
			await check("settings");
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
				const { height = 0 } = (await page.locator("#app > header").boundingBox()) ?? {};
				assert.ok(height > 30 && height < 64, `the header is one row: ${height} px`);
				await page.locator(".row .name a").click();
				await page.getByRole("heading", { name: tools }).waitFor();
				await expectNothingCutOff(page, "device");
				for (const view of ["home", "clients", "connect", "audit", "settings"]) {
					await page.evaluate((hash) => {
						location.hash = hash;
					}, `#/${view}`);
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

	it("goes where the address leads, however soon it changes on a slow computer", async (t) => {
		const { page, gateway } = await openWithDevice(t);
		const session = await page.context().newCDPSession(page);
		await session.send("Emulation.setCPUThrottlingRate", { rate: 10 });
		for (const delay of [150, 200, 225, 250, 275, 300]) {
			await page.goto("about:blank");
			await page.goto(`${gateway.base}/#/devices`);
			await page.waitForTimeout(delay);
			await page.goto(`${gateway.base}/#/home`);
			await page.getByRole("heading", { name: "Home" }).waitFor();
			assert.match(page.url(), /#\/home$/);
		}
	});

	it("says that the gateway is lost, and goes on when it is back", async (t) => {
		const [httpPort, websocketPort] = [await freePort(), await freePort()];
		const first = await startWithConsole(t, { httpPort, websocketPort });
		await WireDevice.connect(t, first, { id: LAMP });
		const page = await openConsole(t, first.base);
		await page.getByRole("link", { name: /^lamp/ }).waitFor();
		await page.getByRole("link", { name: /^lamp/ }).click();
		await page.getByRole("button", { name: "Disconnect" }).waitFor();
		await first.gateway.close();
		await page.getByText("The gateway cannot be reached").waitFor();
		assert.equal(await page.getByRole("button", { name: "Forget" }).count(), 0);
		await page.getByRole("link", { name: "← Devices" }).click();
		const second = await startWithConsole(t, { httpPort, websocketPort }, first.stateFolder);
		await page.getByText("The gateway cannot be reached").waitFor({ state: "hidden" });
		await page.locator(".row .state", { hasText: "offline" }).waitFor();
		await WireDevice.connect(t, second, { id: LAMP });
		await page.locator(".row .state", { hasText: "online" }).waitFor();
	});

	it("shows a device again after the gateway has restarted, however soon the device is back", async (t) => {
		const ports = { httpPort: await freePort(), websocketPort: await freePort() };
		const connect = (gateway: StartedProgram, level: number) =>
			WireDevice.connect(t, gateway, {
				id: LAMP,
				tools: [{ name: "self.get_device_status", inputSchema: { type: "object" } }],
				onCall: () => ({ content: [{ type: "text", text: JSON.stringify({ battery: { level } }) }], isError: false }),
			});
		let gateway = await startWithConsole(t, ports);
		const { stateFolder } = gateway;
		await connect(gateway, 60);
		const page = await openConsole(t, gateway.base);
		await page.getByRole("link", { name: /^lamp/ }).click();
		await page.getByText("60\u00a0%").waitFor();
		for (const level of [61, 62]) {
			await gateway.gateway.close();
			if (level === 62) {
				await page.getByText("The gateway cannot be reached").waitFor();
			}
			gateway = await startWithConsole(t, ports, stateFolder);
			await connect(gateway, level);
			await page.getByText(`${level}\u00a0%`).waitFor();
			await page.getByText("The gateway cannot be reached").waitFor({ state: "detached" });
			await page.locator(".banner.warn").waitFor({ state: "detached" });
		}
	});

	it("lists the tools of a device when the network is back", async (t) => {
		const { page } = await openWithDevice(t, { tools: [VOLUME] });
		await page.route("**/mcp/**", (route) => route.abort());
		await page.locator(".row .name a").click();
		await page.locator(".banner.warn").waitFor();
		await page.context().setOffline(true);
		await page.getByText("The gateway cannot be reached").waitFor();
		await page.unroute("**/mcp/**");
		await page.context().setOffline(false);
		await page.getByRole("slider", { name: "Volume" }).waitFor();
		assert.equal(await page.locator(".banner.warn").count(), 0);
	});

	it("stays signed in after a restart of the gateway", async (t) => {
		const ports = { httpPort: await freePort(), websocketPort: await freePort() };
		const first = await startConsole(t, ports);
		const page = await openSignedIn(t, first);
		await first.gateway.close();
		await page.getByText("The gateway cannot be reached").waitFor();
		await startWithConsole(t, ports, first.stateFolder);
		await page.getByText("The gateway cannot be reached").waitFor({ state: "detached" });
		await page.getByRole("link", { name: "Clients" }).click();
		await page.getByRole("heading", { name: "New token" }).waitFor();
		assert.equal(await page.locator(".sign-in").count(), 0);
	});
});

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
