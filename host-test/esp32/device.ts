import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { RawBackend } from "../../e2e/fixtures.js";
import { listen, until } from "../support/testing.js";
import { storeSettings } from "./flash-image.js";
import { HOST_ADDRESS, type QemuImage } from "./qemu.js";
import { Qemu } from "./qemu-chip.js";

/** Milliseconds without a message after which the chip hangs: much more than anything takes, because the computer may be busy. */
const MAX_SILENCE = 300_000;

/** Characters of its console in an error. */
const CONSOLE_SHOWN = 1_500;

interface ChipOptions {
	readonly image: QemuImage;
	readonly settings: Readonly<Record<string, string>>;
	readonly passphrase?: string | undefined;
	readonly network?: string;
	/** Whether its first serial port leads to this computer. Output without a connection is lost. */
	readonly hasSerial?: boolean | undefined;
	readonly onEnd?: (reason: Error) => void;
}

export function startChip(
	t: TestContext,
	{
		image,
		settings,
		passphrase,
		network,
		hasSerial = false,
		onEnd = (reason) => t.diagnostic(String(reason)),
	}: ChipOptions,
) {
	const folder = mkdtempSync(join(tmpdir(), "xs-mcp-qemu-"));
	const [flash, console, monitor, port] = ["flash.bin", "console.txt", "monitor", "serial"].map((name) =>
		join(folder, name),
	) as [string, string, string, string];
	const serial = hasSerial ? port : undefined;
	writeFileSync(flash, storeSettings(image.flash, settings));
	const powerOn = (): Qemu =>
		new Qemu({ flash, console, serial, monitor, emulator: image.emulator, passphrase, network, onEnd });
	let qemu = powerOn();
	t.after(async () => {
		await qemu.stop();
		rmSync(folder, { recursive: true });
	});
	return {
		/** Its output since it was last switched on. */
		console: (): string => readFileSync(console, "latin1"),
		/** Cuts its power in the middle of whatever it does, may change its flash, and gives it back. */
		async cutPower(change?: (flash: Buffer) => void): Promise<void> {
			await qemu.stop();
			if (change !== undefined) {
				const content = readFileSync(flash);
				change(content);
				writeFileSync(flash, content);
			}
			qemu = powerOn();
		},
		async openSerial(): Promise<Socket> {
			await until(() => existsSync(port), "QEMU has the serial port");
			const line = connect(port);
			t.after(() => line.destroy());
			await once(line, "connect");
			return line;
		},
		setNetwork: (up: boolean): Promise<void> => qemu.setNetwork(up),
		readWord: (address: number): Promise<number> => qemu.readWord(address),
		setProperty: (path: string, property: string, value: number): Promise<void> =>
			qemu.setProperty(path, property, value),
		/** Its state for an error: its processor's registers, and its last output. */
		state: async (): Promise<string> =>
			`${await qemu.registers()}\n${readFileSync(console, "latin1").slice(-CONSOLE_SHOWN)}`,
	};
}

interface DeviceOptions {
	readonly image: QemuImage;
	/** Stored settings, in addition to the backend. */
	readonly settings?: Readonly<Record<string, string>>;
	readonly images?: ReadonlyMap<string, Buffer>;
	readonly passphrase?: string;
	readonly hasSerial?: boolean;
}

export async function startInSession(t: TestContext, options: DeviceOptions) {
	const device = await startDevice(t, options);
	await device.nextSession();
	return device;
}

/** Starts a chip in QEMU with a backend, which is made of `ws` alone. */
export async function startDevice(t: TestContext, { image, settings, images, passphrase, hasSerial }: DeviceOptions) {
	const server = createServer((request, response) => {
		const body = images?.get(request.url?.slice(1) ?? "");
		response.writeHead(body === undefined ? 404 : 200, { "Content-Length": body?.byteLength ?? 0 }).end(body);
	});
	const port = await listen(t, server);
	const backend = await RawBackend.listen(t);
	const chip = startChip(t, {
		image,
		settings: { backend: `ws://${HOST_ADDRESS}:${backend.port}/`, ...settings },
		passphrase,
		hasSerial,
		onEnd: (reason) => backend.fail(reason),
	});
	backend.limitSilence(MAX_SILENCE, chip.state);
	/** Waits for the next session. Messages from before a restart may still be unread. */
	const nextSession = async (): Promise<void> => {
		while (JSON.parse(await backend.hear()).type !== "hello") {}
		backend.say({ type: "hello", transport: "websocket", session_id: "s", audio_params: {} });
	};
	const urlOf = (name: string): string => `http://${HOST_ADDRESS}:${port}/${name}`;
	const params = (name: string, args: object) => ({ name, arguments: args, _meta: { progressToken: "p" } });
	const call = async (name: string, args = {}) =>
		await backend.ask({ id: 1, method: "tools/call", params: params(name, args) });
	/** @param more arguments of the tool: a signature, … */
	const update = (name: string, more: object = {}) => call("self.upgrade_firmware", { url: urlOf(name), ...more });
	const info = async () => JSON.parse((await call("self.get_system_info")).result.content[0].text);
	return {
		...chip,
		backend,
		nextSession,
		call,
		/** Calls a tool that does not answer. */
		fail: (name: string, args = {}) =>
			backend.say({
				type: "mcp",
				payload: { jsonrpc: "2.0", id: 1, method: "tools/call", params: params(name, args) },
			}),
		urlOf,
		update,
		/** Updates it, and asserts that the image is installed. */
		async install(name: string, more: object = {}): Promise<void> {
			const answer = await update(name, more);
			assert.equal(answer.result?.isError, false, JSON.stringify(answer));
		},
		info,
		partition: async (): Promise<string> => (await info()).ota.label,
	};
}
