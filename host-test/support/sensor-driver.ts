import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Plugin } from "esbuild";
import { importBundle } from "xs-mcp/build/import-bundle";
import type { Sdk } from "xs-mcp/moddable/sdk";
import { ROOT } from "xs-mcp/root";
import { SENSOR, SENSORS } from "xs-mcp-virtual-device/sensors";
import SMBus from "xs-mcp-virtual-device/smbus";

/** A driver of ECMA-419 (§13). */
type Driver = new (
	options: object,
) => {
	configure?(options: object): void;
	sample(): object | undefined;
	close(): void;
};

/** Bytes in hexadecimal that reads return after bytes that were written. Several ones are returned in turn; the rest is 0. */
export type Script = Readonly<Record<string, string | readonly string[]>>;

/** Modules that a driver imports. `crc` has the parameters of the SDK's classes. */
const MODULES: Readonly<Record<string, string>> = {
	timer: `export default { delay() {}, repeat: (callback, interval) => setInterval(callback, interval), clear: clearInterval };`,
	time: "export default { get ticks() { return Date.now() | 0; } };",
	crc: `
		const reverse = (value, bits) => { let out = 0; for (let bit = 0; bit < bits; bit += 1) out |= ((value >> bit) & 1) << (bits - 1 - bit); return out; };
		const crc = (bits) => class {
			constructor(polynomial, initial = 0, reflectInput = false, reflectOutput = false) { Object.assign(this, { polynomial, initial, reflectInput, reflectOutput }); }
			reset() { return this; }
			checksum(bytes) {
				const mask = 2 ** bits - 1;
				let value = this.initial;
				for (const byte of new Uint8Array(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, bytes.byteLength)) {
					value ^= (this.reflectInput ? reverse(byte, 8) : byte) << (bits - 8);
					for (let bit = 0; bit < 8; bit += 1) value = ((value << 1) ^ (value >> (bits - 1) & 1 ? this.polynomial : 0)) & mask;
				}
				return this.reflectOutput ? reverse(value, bits) : value;
			}
		};
		export const CRC8 = crc(8), CRC16 = crc(16);
		export default CRC8;`,
};

const modules: Plugin = {
	name: "modules",
	setup(build) {
		build.onResolve({ filter: /^(timer|time|crc)$/ }, ({ path }) => ({ path, namespace: "double" }));
		build.onLoad({ filter: /.*/, namespace: "double" }, ({ path }) => ({ contents: MODULES[path] as string }));
	},
};

/** Imports a driver of the firmware, or of the SDK. @param name after "embedded:sensor/" */
export async function importDriver(name: string, sdk: Sdk | undefined): Promise<Driver> {
	const own = join(ROOT, `src/hardware/drivers/sensors/${basename(name).toLowerCase()}.ts`);
	const entry = SENSORS[name]?.isOwn ? own : findSource(name, sdk as Sdk);
	const { default: found } = await importBundle<{ readonly default: Driver }>(entry, modules);
	return found;
}

/** Returns the path of a driver in the SDK. */
function findSource(name: string, { root }: Sdk): string {
	const folder = join(root, "modules/drivers/sensors");
	for (const each of readdirSync(folder)) {
		const manifest = join(folder, each, "manifest.json");
		const { modules = {} } = existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")) : {};
		const path: string | undefined = [modules[`${SENSOR}${name}`]].flat()[0];
		if (path !== undefined) {
			return `${path.replace("$(MODDABLE)", root).replace("$(MODULES)", `${root}/modules`).replace(/^\./, join(folder, each))}.js`;
		}
	}
	throw new Error(`the SDK has no driver ${name}`);
}

const hex = (bytes: ArrayBuffer | Uint8Array): string =>
	Buffer.from(bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes).toString("hex");

/**
 * Makes the class of a bus (ECMA-419 §10.5.4) with a chip that answers as a script says.
 *
 * @param written gets the bytes of each write, in hexadecimal
 */
export function scriptedBus(script: Script, written: string[] = []) {
	const replies = Object.fromEntries(Object.entries(script).map(([key, reply]) => [key, [reply].flat()]));
	return class Bus extends SMBus {
		#last = "";

		constructor() {
			super({ address: 0 });
		}

		override read(target: number | ArrayBuffer | ArrayBufferView): ArrayBuffer | number {
			const queue = replies[this.#last] ?? [];
			const reply = Buffer.from((queue.length > 1 ? queue.shift() : queue[0]) ?? "", "hex");
			const length = typeof target === "number" ? target : target.byteLength;
			const bytes = Uint8Array.from({ length }, (_, at) => reply[at] ?? 0);
			if (typeof target === "number") {
				return bytes.buffer;
			}
			const { buffer, byteOffset = 0 } = target instanceof ArrayBuffer ? { buffer: target } : target;
			new Uint8Array(buffer, byteOffset, length).set(bytes);
			return length;
		}

		override write(bytes: ArrayBuffer | Uint8Array): void {
			this.#last = hex(bytes);
			written.push(this.#last);
		}

		override writeQuick(): void {}

		override close(): void {
			written.push("closed");
		}
	};
}
