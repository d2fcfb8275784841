import { writeFileSync } from "node:fs";
import { drawSvg } from "./draw-svg.js";
import { pace, recordTerminal } from "./record-terminal.js";

const SIZE = { columns: 96, rows: 27 };

/** Milliseconds: how long anything keeps a watcher waiting, and how long a line is read. */
const PACE = { longest: 2_000, line: 130 };

/** Records `npm start` and some commands as they are really printed, and draws them. Only the pace is a reader's. */
export async function recordFirstMinute(path: string): Promise<string> {
	const chunks = await recordTerminal({
		...SIZE,
		// A shell that is not interactive drops PS1 from the environment.
		command: "env 'PS1=$ ' bash --norc --noprofile",
		typing: 45,
		reading: 1_500,
		lines: [
			["$ ", "npm start"],
			["> ", "call self.light.set on=true color=#ff8000"],
			["> ", "measure temperature 30"],
			["> ", "press"],
			["> ", 'call self.camera.take_photo question="What is this?"'],
			["> ", "quit"],
		],
		until: "$ ",
	});
	const title =
		"npm start: a virtual device, a gateway and an MCP client; then calls of the device's tools at a prompt";
	writeFileSync(path, await drawSvg(pace(chunks, PACE), { ...SIZE, last: 6_000, title }));
	return path;
}
