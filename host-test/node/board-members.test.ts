import assert from "node:assert/strict";
import { join } from "node:path";
import { afterEach, describe, it } from "node:test";
import type { Plugin } from "esbuild";
import { importBundle } from "xs-mcp/build/import-bundle";
import { ROOT } from "xs-mcp/root";
import type { BoardData, OpenMember } from "../../src/hardware/board-data.js";

/** Globals of the firmware, and what the doubles of its modules read and write. */
const globals = globalThis as unknown as {
	modules: Record<string, (...args: unknown[]) => object>;
	device: object;
	trace(line: string): void;
};

/** Modules that need a chip. A player and a codec are the arguments that they were made with. */
const MODULES: Readonly<Record<string, string>> = {
	modules: "export default { has: (name) => name in modules, importNow: (name) => modules[name] };",
	"open-player": "export const openPlayer = (volume) => ({ volume, close() { this.isClosed = true; } });",
	"open-codec": "export default (player, channels) => ({ player, channels });",
};

const doubles: Plugin = {
	name: "doubles",
	setup(build) {
		build.onResolve({ filter: /(^modules|\/open-player\.js|\/open-codec\.js)$/ }, ({ path }) => ({
			path: path.replace(/^.*\/|\.js$/g, ""),
			namespace: "double",
		}));
		build.onLoad({ filter: /.*/, namespace: "double" }, ({ path }) => ({ contents: MODULES[path] as string }));
	},
};

/** Opens a member of a board's data. */
async function open(member: string, data: BoardData, board: object = {}) {
	const entry = join(ROOT, `src/hardware/drivers/open-${member}.ts`);
	const { default: opener } = await importBundle<{ readonly default: OpenMember }>(entry, doubles);
	const lines: string[] = [];
	const closing: { close(): void }[] = [];
	globals.trace = (line) => void lines.push(line.trim());
	globals.device = { I2C: { default: { data: 1, clock: 2 } }, io: { SMBus: "SMBus" } };
	opener({ data, board, closing });
	return { board: board as Record<string, object>, lines, closing };
}

const BUS = { data: 1, clock: 2, io: "SMBus" };
const I2S = { clock: 5, word: 4, data: 6 };

/** A chip that keeps its arguments, or does not answer. */
const chip =
	(error?: Error) =>
	(...args: unknown[]): object => {
		if (error !== undefined) {
			throw error;
		}
		return { args, close() {} };
	};

describe("a board of data", () => {
	afterEach(() => {
		for (const name of ["modules", "device", "trace"]) {
			Reflect.deleteProperty(globalThis, name);
		}
	});

	it("opens a speaker without a codec chip, and its player sets the volume", async () => {
		const { board, closing } = await open("speaker", { speaker: { i2s: I2S, volume: 40 } });
		assert.equal(board.speaker, board.player);
		assert.equal((board.player as { readonly volume: number }).volume, 40);
		assert.deepEqual(closing, [board.player]);
	});

	it("opens a speaker's codec chip, which sets the volume", async () => {
		globals.modules = { "src/hardware/drivers/es8311": chip() };
		const speaker = { codec: "es8311", address: 0x19, i2s: { ...I2S, main: 3 } } as const;
		const { board, closing } = await open("speaker", { speaker });
		assert.deepEqual((board.speaker as { readonly args: unknown[] }).args, [BUS, 0x19, true, 70]);
		assert.equal((board.player as { readonly volume: number }).volume, 100);
		assert.deepEqual(closing, [board.player, board.speaker]);
	});

	it("opens the player alone if the codec chip does not answer", async () => {
		globals.modules = { "src/hardware/drivers/es8311": chip(new Error("no answer")) };
		const { board, lines } = await open("speaker", { speaker: { codec: "es8311", i2s: I2S } });
		assert.equal(board.speaker, board.player);
		assert.equal((board.player as { readonly volume: number }).volume, 70);
		assert.deepEqual(lines, ["codec chip not opened: Error: no answer"]);
	});

	it("opens a microphone's chip, and the codec of a board with a player", async () => {
		globals.modules = { "src/hardware/drivers/es7210": chip() };
		const player = { volume: 70 };
		const microphone = { codec: "es7210", address: 0x41, i2s: I2S, channels: 1 } as const;
		const { board, closing } = await open("microphone", { microphone }, { player });
		assert.deepEqual(board.codec, { player, channels: 1 });
		assert.deepEqual((closing[0] as unknown as { readonly args: unknown[] }).args, [BUS, 0x41, false]);
	});

	it("opens no chip for a microphone that shares the speaker's, and no codec without a player", async () => {
		globals.modules = { "src/hardware/drivers/es8311": chip(new Error("opened twice")) };
		const both = { codec: "es8311", i2s: I2S } as const;
		const { board, closing, lines } = await open("microphone", { speaker: both, microphone: both });
		assert.deepEqual([board, closing, lines], [{}, [], []]);
	});

	it("opens LEDs of both kinds as lights, without one that fails", async () => {
		globals.modules = {
			"src/hardware/drivers/open-neopixel": chip(),
			"src/hardware/drivers/open-pwm-light": (led) => {
				if ((led as { readonly pin: number }).pin === 9) {
					throw new Error("pin in use");
				}
				return { led, close() {} };
			},
		};
		const leds = {
			strip: { neopixel: 48, length: 8, order: "RGB" },
			status: { pin: 2, activeLow: true },
			bad: { pin: 9 },
		};
		const { board, closing, lines } = await open("leds", { leds });
		const { strip, status, ...others } = board.lights as Record<
			string,
			{ readonly args?: unknown; readonly led?: unknown }
		>;
		assert.deepEqual([strip?.args, status?.led, others], [[48, 8, "RGB"], { pin: 2, activeLow: true }, {}]);
		assert.deepEqual(closing, [strip, status]);
		assert.deepEqual(lines, ["LED bad not opened: Error: pin in use"]);
	});
});
