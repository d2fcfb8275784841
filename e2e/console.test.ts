import assert from "node:assert/strict";
import { it } from "node:test";
import { whyNoChromium } from "../host-test/support/chromium.js";
import { until } from "../host-test/support/testing.js";
import { complaintsOf, openSignedIn, startConsole } from "./console-page.js";
import { ENGINE, startDevice } from "./fixtures.js";

it("the console in Chromium signs in, approves a device, sets its volume with a slider and shows its photo", {
	skip: whyNoChromium,
}, async (t) => {
	const gateway = await startConsole(t, { bootstrap: "approve" });
	const page = await openSignedIn(t, gateway);
	await page.getByRole("heading", { name: "No device yet" }).waitFor();
	const config = { otaUrl: `${gateway.base}/xiaozhi/ota/` };
	const { device, log } = await startDevice(t, ENGINE, { config });
	const code = (await page.locator(".pending .code").textContent()) ?? "none";
	assert.match(code, /^[0-9]{6}$/);
	await until(() => log.some((line) => line.includes(code)), "it is the code that the device shows");
	await page.getByRole("button", { name: "Approve" }).click();
	await page.getByRole("link", { name: /^virtual_/ }).click();

	const slider = page.getByRole("slider", { name: "Volume" });
	await until(async () => (await slider.inputValue()) === "70", "the slider stands where the volume is");
	await slider.fill("12");
	await page.locator(".log summary", { hasText: "Set volume volume 12" }).waitFor();
	const server = gateway.gateway.servers.find(device.macAddress);
	const tool = server?.tools.find(({ name }) => name === "self.get_device_status");
	assert.ok(server && tool);
	const result = await server.call(tool, {}, { principal: "test" });
	assert.match(JSON.stringify(result), /audio_speaker.{1,8}volume.{1,6}12\b/);

	await page.getByRole("button", { name: "Take photo" }).click();
	const photo = page.locator("figure img");
	await until(async () => ((await photo.boundingBox())?.height ?? 0) > 100, "the photo is drawn");
	assert.match((await photo.getAttribute("src")) ?? "", /^data:image\/jpeg;base64,/);
	await page.locator(".log summary", { hasText: "Take photo" }).waitFor();

	await device.press();
	await page.getByRole("region", { name: "Events" }).getByText("Button boot").waitFor();

	const headers = { Authorization: `Bearer ${gateway.secret}` };
	const metrics = await (await fetch(`${gateway.base}/metrics`, { headers })).text();
	assert.match(metrics, /\nxs_mcp_gateway_sessions 0\n/, "pages have no sessions that they could leave behind");
	assert.deepEqual(complaintsOf(page), []);
});
