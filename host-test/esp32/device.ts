import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { Qemu, type QemuImage } from "../../scripts/moddable/qemu.js";
import { RawBackend } from "../e2e/fixtures.js";

interface DeviceOptions {
	/** What its flash has when it is switched on. */
	readonly image: QemuImage;
	/** Where its backend listens: the image knows it. */
	readonly backendPort: number;
	/** What it can update itself with, by name. */
	readonly images?: ReadonlyMap<string, Buffer>;
	/** Where they are served. */
	readonly imagesPort: number;
}

/** A chip in QEMU that is stopped with its test, and its backend, which is made of `ws` alone. */
export async function startDevice(t: TestContext, options: DeviceOptions) {
	const { image, backendPort, images = new Map<string, Buffer>(), imagesPort } = options;
	const server = createServer((request, response) => {
		const body = images.get(request.url?.slice(1) ?? "");
		response.writeHead(body === undefined ? 404 : 200, { "Content-Length": body?.byteLength ?? 0 }).end(body);
	}).listen(imagesPort, "127.0.0.1");
	t.after(() => server.close());

	const backend = await RawBackend.listen(t, backendPort);
	const folder = mkdtempSync(join(tmpdir(), "xs-mcp-qemu-"));
	const flash = join(folder, "flash.bin");
	writeFileSync(flash, image.flash);
	const powerOn = (): Qemu => new Qemu(flash, (reason) => backend.fail(reason));
	let qemu = powerOn();
	t.after(async () => {
		await qemu.stop();
		rmSync(folder, { recursive: true });
	});

	/** Waits for the next session: what the device said before it restarted may still be unread. */
	const nextSession = async (): Promise<void> => {
		while (JSON.parse(await backend.hear()).type !== "hello") {}
		backend.say({ type: "hello", transport: "websocket", session_id: "s", audio_params: {} });
	};
	const urlOf = (name: string): string => `http://10.0.2.2:${imagesPort}/${name}`;
	const params = (name: string, args: object) => ({ name, arguments: args, _meta: { progressToken: "p" } });
	const call = async (name: string, args = {}) =>
		await backend.ask({ id: 1, method: "tools/call", params: params(name, args) });
	return {
		backend,
		nextSession,
		call,
		/** Cuts its power in the middle of whatever it does, and gives it back. */
		async cutPower(): Promise<void> {
			await qemu.stop();
			qemu = powerOn();
		},
		/** Calls a tool that does not answer. */
		fail: (name: string, args = {}) =>
			backend.say({
				type: "mcp",
				payload: { jsonrpc: "2.0", id: 1, method: "tools/call", params: params(name, args) },
			}),
		urlOf,
		/** @param more arguments of the tool: a signature, … */
		update: (name: string, more: object = {}) => call("self.upgrade_firmware", { url: urlOf(name), ...more }),
		/** The partition that it runs from. */
		partition: async (): Promise<string> =>
			JSON.parse((await call("self.get_system_info")).result.content[0].text).ota.label,
	};
}
