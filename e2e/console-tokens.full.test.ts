import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { STATUS, WireDevice } from "xs-mcp-gateway/testing/gateway";
import { whyNoChromium } from "../host-test/support/chromium.js";
import { testWith } from "../host-test/support/testing.js";
import { complaintsOf, LAMP, openSignedIn, openWithDevice, startConsole, VOLUME } from "./console-page.js";

const itConsole = testWith(startConsole);

const DESK = "aa:bb:cc:00:00:02";

describe("tokens and sessions of the console in Chromium, in full", { skip: whyNoChromium }, () => {
	itConsole("makes a token, whose page says so when it is revoked", async (gateway, t) => {
		const page = await openSignedIn(t, gateway);
		await page.getByRole("link", { name: "Clients" }).click();
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
		await other.getByText("Invalid token").waitFor();
	});

	itConsole("edits a token with the form that makes one", async (gateway, t) => {
		const token = await gateway.tokens.add({ name: "lamp", kind: "device" });
		await WireDevice.connect(t, gateway, { id: LAMP, token, tools: [VOLUME] });
		const alias = gateway.gateway.servers.find(LAMP)?.alias as string;
		const secret = await gateway.tokens.add({ name: "kiosk", kind: "client", userTools: true });
		const other = await openSignedIn(t, { ...gateway, secret });
		const page = await openSignedIn(t, gateway);
		await page.getByRole("link", { name: "Clients" }).click();
		const line = page.locator("li", { hasText: "kiosk" });
		await line.getByRole("button", { name: "Edit" }).click();
		assert.equal(await line.getByLabel("user tools").isChecked(), true);
		await line.getByLabel("Only these devices").fill("nothing");
		await line.getByRole("button", { name: "Save" }).click();
		await line.getByText("devices: unknown device nothing").waitFor();
		await line.getByLabel("Only these devices").fill(alias);
		await line.getByLabel("Valid until").fill("2999-12-31");
		await line.getByLabel("read-only").check();
		await line.getByRole("button", { name: "Save" }).click();
		await line.getByText(`${alias} · user tools · read-only · until 31/12/2999`).waitFor();
		assert.equal(await line.getByRole("button", { name: "Save" }).count(), 0);
		await other.getByText("Your token is read-only").waitFor();
		await line.getByRole("button", { name: "Edit" }).click();
		assert.equal(await line.getByLabel("Only these devices").inputValue(), alias);
		const { tokens } = gateway.gateway;
		for (const kiosk of tokens.records.filter(({ name }) => name === "kiosk")) {
			await tokens.change({ name: "kiosk", kind: "client" }, tokens.revisionOf(kiosk));
		}
		await line.getByRole("button", { name: "Save" }).click();
		await line.getByText("the token was changed meanwhile").waitFor();
		await line.getByText("all devices").waitFor();
		await line.getByRole("button", { name: "Save" }).click();
		await line.getByRole("button", { name: "Save" }).waitFor({ state: "detached" });
		await page.getByRole("link", { name: "Audit log" }).click();
		await page
			.getByText(`changed the token kiosk: ${alias} · user tools · read-only · until 31/12/2999`)
			.first()
			.waitFor();
		assert.deepEqual(complaintsOf(page), []);
	});

	it("saves the devices that the form showed, though they were renamed or forgotten meanwhile", async (t) => {
		const gateway = await startConsole(t);
		const token = await gateway.tokens.add({ name: "boards", kind: "device" });
		await WireDevice.connect(t, gateway, { id: LAMP, token });
		await WireDevice.connect(t, gateway, { id: DESK, token });
		const { servers, tokens } = gateway.gateway;
		await servers.edit(LAMP, { alias: "kitchen" });
		await gateway.tokens.add({ name: "kiosk", kind: "client", devices: [LAMP, "mcp/living room"] });
		const page = await openSignedIn(t, gateway);
		await page.getByRole("link", { name: "Clients" }).click();
		const line = page.locator("li", { hasText: "kiosk" });
		await line.getByRole("button", { name: "Edit" }).click();
		await servers.edit(LAMP, { alias: "porch" });
		await servers.edit(DESK, { alias: "kitchen" });
		await line.getByLabel("Valid until").fill("2999-12-31");
		// A new token leaves the form of another one open.
		await page.getByRole("textbox", { name: "Name" }).fill("other");
		await page.getByRole("button", { name: "Create" }).click();
		await page.locator("li", { hasText: "other" }).waitFor();
		await line.getByRole("button", { name: "Save" }).click();
		await line.getByText("porch, mcp/living room · until 31/12/2999").waitFor();
		assert.deepEqual(tokens.records.find(({ name }) => name === "kiosk")?.devices, [LAMP, "mcp/living room"]);
		await page.getByRole("link", { name: "Audit log" }).click();
		await page.getByText("created the token other").waitFor();
		assert.deepEqual(complaintsOf(page), []);
	});

	it("asks before the last operator's token is none any more", async (t) => {
		const gateway = await startConsole(t);
		const page = await openSignedIn(t, gateway);
		await page.getByRole("link", { name: "Clients" }).click();
		const line = page.locator("li", { hasText: "operator" }).first();
		await line.getByRole("button", { name: "Edit" }).click();
		await line.getByLabel("operator:").uncheck();
		await line.getByRole("button", { name: "Save" }).click();
		await page.getByRole("dialog").getByText("last operator's token").waitFor();
		await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
		await page.getByText("Tokens are managed with an operator's token").waitFor();
	});

	it("asks before the first token for clients, an operator's, and shows it beside the sign-in", async (t) => {
		const { gateway, page } = await openWithDevice(t);
		await page.getByRole("link", { name: "Clients" }).click();
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

	itConsole("stays signed in with its own token when it makes another one", async (gateway, t) => {
		const page = await openSignedIn(t, gateway);
		await page.getByRole("link", { name: "Clients" }).click();
		await page.getByRole("textbox", { name: "Name" }).fill("kiosk");
		await page.getByLabel("Only these devices").fill("02:00:00:00:00:99");
		await page.getByRole("button", { name: "Create" }).click();
		await page.getByText("unknown device 02:00:00:00:00:99").waitFor();
		await page.getByLabel("Only these devices").fill("");
		await page.getByRole("button", { name: "Create" }).click();
		await page.locator("li", { hasText: "kiosk" }).getByRole("button", { name: "Revoke" }).waitFor();
		await page.getByRole("link", { name: "Settings" }).click();
		assert.equal(await page.getByRole("button", { name: "Sign out" }).getAttribute("title"), "operator");
	});

	it("asks before the first token for devices, and names those that it disconnects", async (t) => {
		const { gateway, page } = await openWithDevice(t);
		const server = gateway.gateway.servers.find(LAMP);
		await page.getByRole("link", { name: "Clients" }).click();
		await page.getByRole("textbox", { name: "Name" }).fill("board");
		await page.getByRole("combobox", { name: "For" }).selectOption({ label: "device" });
		await page.getByRole("button", { name: "Create" }).click();
		await page.getByRole("dialog").getByText(`Disconnected at once (1): ${server?.alias}`).waitFor();
		await page.getByRole("dialog").getByRole("button", { name: "Disconnect devices (1)" }).waitFor();
		await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
		assert.equal(gateway.tokens.needs("device"), false);
		assert.equal(server?.online, true);
	});

	it("shows a read-only token what it may see, and no buttons that change something", async (t) => {
		const gateway = await startConsole(t, { bootstrap: "approve" });
		const token = await gateway.tokens.add({ name: "lamp", kind: "device" });
		await WireDevice.connect(t, gateway, { id: LAMP, token, tools: [VOLUME, STATUS] });
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

	itConsole("shows two windows the same, and signs both out", async (gateway, t) => {
		const token = await gateway.tokens.add({ name: "lamp", kind: "device" });
		await WireDevice.connect(t, gateway, { id: LAMP, token, tools: [VOLUME] });
		const first = await openSignedIn(t, gateway);
		const second = await first.context().newPage();
		await second.goto(`${gateway.base}/`);
		await first.getByRole("link", { name: /^lamp/ }).click();
		await first.getByRole("button", { name: "Name and tags" }).click();
		await first.getByRole("textbox", { name: "Name in calls" }).fill("porch");
		await first.getByRole("button", { name: "Save" }).click();
		await second.getByRole("link", { name: "porch" }).waitFor();
		await first.getByRole("heading", { name: "porch" }).waitFor();
		await first.getByRole("link", { name: "Settings" }).click();
		await first.getByRole("button", { name: "Sign out" }).click();
		await second.getByText("Your session has ended").waitFor();
	});

	itConsole("says so when its cookie is no longer valid, and signs in again", async (gateway, t) => {
		const page = await openSignedIn(t, gateway);
		await page.getByRole("heading", { name: "No device yet" }).waitFor();
		await page.context().clearCookies();
		await page.getByRole("link", { name: "Clients" }).click();
		await page.getByText("Your session has ended").waitFor();
		await page.locator("input[name=token]").fill(gateway.secret);
		await page.keyboard.press("Enter");
		await page.getByRole("heading", { name: "New token" }).waitFor();
		assert.deepEqual(complaintsOf(page), []);
	});
});
