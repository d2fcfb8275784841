import { fileURLToPath } from "node:url";
import { buildXsHost } from "../virtual-device/src/engine/build-xs.js";
import { encodeCommand } from "../virtual-device/src/engine/xs-protocol.js";
import { bundle, type EngineChoice, type HeapReport } from "../virtual-device/src/index.js";
import { countInstructions, hasCallgrind } from "./instructions.js";
import type { Report } from "./report.js";

const SCRIPT = await bundle(fileURLToPath(new URL("face-script.ts", import.meta.url)), true);

/** Milliseconds of a measurement; the shorter one is what the start takes, too. */
const SHORT = 2_000;
const LONG = 12_000;
const SETTLE = 1_000;

/** What the device does, on a screen of 320 x 240 pixels. */
const SCENES: readonly (readonly [name: string, change: object])[] = [
	["speaking", { state: "speaking", emotion: "happy" }],
	["speaking, with a text of four lines", { state: "speaking", emotion: "happy", message: "word ".repeat(28) }],
	["idle: blinks, looks aside, breathes", { state: "listening" }],
	["crying", { state: "listening", emotion: "crying" }],
];

type Header = readonly [kind: string, ...args: unknown[]];

interface Counted {
	readonly frames: number;
	readonly pixels: number;
	readonly shapes: number;
}

/** Frames, pixels and rectangles, and what the heap holds afterwards. */
export async function drawFace(choice: EngineChoice, header: Header): Promise<Counted & { readonly heap: HeapReport }> {
	const engine = await choice.start({});
	await engine.run(SCRIPT);
	const [done] = await engine.deliver([{ header: [...header] }]);
	const heap = (await engine.heap()) as HeapReport;
	engine.close();
	const [frames = 0, pixels = 0, shapes = 0] = (done?.header.slice(1) ?? []) as number[];
	return { frames, pixels, shapes, heap };
}

/** Writes the table of the face's frames. */
export async function benchFace(choice: EngineChoice, { say, row, header }: Report): Promise<void> {
	say("## The face: a frame on a screen of 320 x 240 pixels, XS 13.3 (64-bit)");
	say();
	header("", "frames a second", "pixels a frame", "rectangles a frame", "instructions a frame");
	const host = await buildXsHost({ bits: 64 });
	const count = (message: Header): number =>
		countInstructions(
			[host, "--seed", "1"],
			Buffer.concat([
				encodeCommand({ kind: "run", script: SCRIPT }),
				encodeCommand({ kind: "deliver", packets: [{ header: JSON.stringify(message) }] }),
			]),
		);
	const measure = async (name: string, long: Header, short: Header, seconds?: number): Promise<void> => {
		const [most, least] = [await drawFace(choice, long), await drawFace(choice, short)];
		const frames = most.frames - least.frames;
		const per = (key: "pixels" | "shapes"): number => Math.round((most[key] - least[key]) / frames);
		const instructions = hasCallgrind()
			? Math.round((count(long) - count(short)) / frames).toLocaleString("en-US")
			: "–";
		row(name, seconds ? (frames / seconds).toFixed(1) : "–", per("pixels"), per("shapes"), instructions);
	};
	for (const [name, change] of SCENES) {
		await measure(name, ["face", change, SETTLE, LONG], ["face", change, SETTLE, SHORT], (LONG - SHORT) / 1_000);
	}
	await measure("everything", ["whole", 6], ["whole", 2]);
}
