import { buildXsHost } from "../virtual-device/src/engine/build-xs.js";
import { encodeCommand } from "../virtual-device/src/engine/xs-protocol.js";
import type { EngineChoice } from "../virtual-device/src/index.js";
import { FACE, hostConfig, startServer } from "./engines.js";
import { countInstructions, hasCallgrind } from "./instructions.js";
import type { Report } from "./report.js";

/** No tools: they take no part in it. */
const TOOLS = 0;

/** Milliseconds of a measurement; the shorter one is what the start takes, too. */
const SHORT = 2_000;
const LONG = 12_000;
const SETTLE = 1_000;

/** Scenes on a screen of 320 x 240 pixels. */
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

/** Drawings, pixels and rectangles. */
async function drawFace(choice: EngineChoice, header: Header): Promise<Counted> {
	const engine = await startServer(choice, TOOLS, undefined, FACE);
	const [done] = await engine.deliver([{ header: [...header] }]);
	engine.close();
	const [frames = 0, pixels = 0, shapes = 0] = (done?.header.slice(1) ?? []) as number[];
	return { frames, pixels, shapes };
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
				encodeCommand({ kind: "run", script: hostConfig(TOOLS) }),
				encodeCommand({ kind: "run", script: FACE }),
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
