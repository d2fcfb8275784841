import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Client } from "@modelcontextprotocol/client";
import { testWith } from "../../../host-test/support/testing.js";
import { APP_MIME_TYPE, APPS_EXTENSION } from "../src/catalog/device-panel.js";
import { connectClient, ERAS, SET_VOLUME, STATUS, startGateway, WireDevice } from "../testing/gateway.js";

const PAGE = '<p>page</p><script type="application/json" id="device">{}</script>';

const PHOTO = { ...STATUS, name: "self.camera.take_photo" };
const HOSTILE = {
	...SET_VOLUME,
	name: "self.screen.set_brightness",
	title: "</script><script>alert(1)</script><!--",
};

const APPS = { extensions: { [APPS_EXTENSION]: { mimeTypes: [APP_MIME_TYPE] } } };

async function start(t: TestContext) {
	const gateway = await startGateway(t, { panel: PAGE });
	await WireDevice.connect(t, gateway, { tools: [STATUS, PHOTO, SET_VOLUME, HOSTILE] });
	return gateway;
}

const itStarted = testWith(start);

const connect = (t: TestContext, url: URL, capabilities: object, era: keyof typeof ERAS = "2025-11-25") =>
	connectClient(t, url, era, { capabilities });

const pagesOf = async (client: Client): Promise<Record<string, unknown>> => {
	const { tools } = await client.listTools();
	return Object.fromEntries(tools.flatMap(({ name, _meta }) => (_meta?.ui ? [[name, _meta.ui]] : [])));
};

describe("the panel of a device in a chat (MCP Apps)", () => {
	for (const era of Object.keys(ERAS) as (keyof typeof ERAS)[]) {
		itStarted(`is named by status and photo tools, to clients that show pages, ${era}`, async (gateway, t) => {
			const ui = { resourceUri: "ui://lamp_000001/device" };
			assert.deepEqual(await pagesOf(await connect(t, gateway.clientUrl(), APPS, era)), {
				lamp_000001__self_get_device_status: ui,
				lamp_000001__self_camera_take_photo: ui,
			});
			const own = await connect(t, gateway.clientUrl("lamp_000001"), APPS, era);
			assert.deepEqual(Object.keys(await pagesOf(own)), ["self_get_device_status", "self_camera_take_photo"]);
			assert.deepEqual(await pagesOf(await connect(t, gateway.clientUrl(), {}, era)), {});
			const other = { extensions: { [APPS_EXTENSION]: { mimeTypes: ["text/html"] } } };
			assert.deepEqual(await pagesOf(await connect(t, gateway.clientUrl(), other, era)), {});
		});
	}

	it("is named to a client that does not say that it shows pages, if its URL asks for it", async (t) => {
		const gateway = await start(t);
		const url = gateway.clientUrl("lamp_000001");
		const shown = await pagesOf(await connect(t, new URL(`${url}?panels=on`), {}));
		assert.deepEqual(Object.keys(shown), ["self_get_device_status", "self_camera_take_photo"]);
		await assert.rejects(connect(t, new URL(`${url}?panels=yes`), {}), /panels: expected one of auto, on/);
	});

	itStarted("is a page with the device's tools as data, whatever their texts are", async (gateway, t) => {
		const client = await connect(t, gateway.clientUrl(), APPS);
		const { contents } = await client.readResource({ uri: "ui://lamp_000001/device" });
		const [page] = contents as { mimeType: string; text: string }[];
		assert.equal(page?.mimeType, APP_MIME_TYPE);
		const data = /id="device">(.*?)<\/script>$/s.exec(page?.text ?? "")?.[1] ?? "";
		assert.doesNotMatch(data, /</);
		const { alias, tools } = JSON.parse(data);
		assert.equal(alias, "lamp_000001");
		assert.deepEqual(
			tools.map(({ name, title }: { name: string; title?: string }) => [name, title]),
			[
				["lamp_000001__self_get_device_status", "Get device status"],
				["lamp_000001__self_camera_take_photo", "Take photo"],
				["lamp_000001__self_audio_speaker_set_volume", "Set volume"],
				["lamp_000001__self_screen_set_brightness", HOSTILE.title],
			],
		);
	});

	itStarted("is of devices that the client may reach, and of no others", async (gateway, t) => {
		gateway.access = { principal: "kiosk", userTools: false, devices: new Set(["aa:bb:cc:00:00:02"]) };
		const client = await connect(t, gateway.clientUrl(), APPS);
		for (const uri of ["ui://lamp_000001/device", "ui://nobody/device", "ui://lamp_000001/other"]) {
			await assert.rejects(client.readResource({ uri }), /Resource not found/);
		}
	});
});
