import { writeFileSync } from "node:fs";
import { drawSvg } from "./draw-svg.js";
import { readLines } from "./read-lines.js";
import { pace, recordTerminal, type Step } from "./record-terminal.js";

const SIZE = { columns: 96, rows: 27 };

/** Milliseconds: how long anything keeps a watcher waiting, how long a line is read, and how long the last picture stays. */
const PACE = { longest: 2_000, line: 130 };
const LAST_PICTURE = 6_000;

/** What a newcomer types. */
const STEPS: readonly Step[] = [
	{ prompt: "$ ", type: "npm start" },
	{ prompt: "> ", type: "call self.light.set on=true color=#ff8000" },
	{ prompt: "> ", type: "measure temperature 30" },
	{ prompt: "> ", type: "press" },
	{ prompt: "> ", type: 'call self.camera.take_photo question="What is this?"' },
	{ prompt: "> ", type: "quit" },
];

/** Records `npm start` and some commands as they are really printed, and draws them. Only the pace is a reader's. */
export async function recordFirstMinute(path: string): Promise<string> {
	const chunks = await recordTerminal({
		...SIZE,
		// A shell that is not interactive drops PS1 from the environment.
		command: "env 'PS1=$ ' bash --norc --noprofile",
		typing: 45,
		reading: 1_500,
		steps: STEPS,
		until: "$ ",
		env: { npm_config_loglevel: "error" },
	});
	const shown = pace(chunks, PACE);
	const duration = (shown.at(-1)?.at ?? 0) + LAST_PICTURE;
	const lines = await readLines(shown, SIZE.columns, SIZE.rows);
	const title =
		"npm start: a virtual device, a gateway and an MCP client; then calls of the device's tools at a prompt";
	writeFileSync(path, drawSvg(lines, { ...SIZE, duration: Math.round(duration), title }));
	return path;
}
