// npm run simulator: the firmware as mcconfig builds it, in Moddable's simulator.
import { fileURLToPath } from "node:url";
import { parseCommandLine, runCommand } from "./command-line.js";
import { describeHeap, readHeap } from "./heap.js";
import { buildForSimulator } from "./mcconfig.js";
import { needSdk } from "./sdk.js";
import { Simulator } from "./simulator.js";

const HELP = `The firmware in Moddable's simulator, its trace in the terminal. Needs the SDK, and $MODDABLE to name it.

  npm run simulator [-- options] [NAME=VALUE …]

  NAME=VALUE       a setting of the firmware, such as backend=mqtt://127.0.0.1:1883 or token=SECRET
                   (default: backend=ws://127.0.0.1:8765/)
  --headless       on a virtual display, as where there is no screen
  --instruments    tells the heap once a second
  --help

Ctrl-C ends it. Linux only.
`;

const OPTIONS = {
	headless: {
		type: "boolean",
		default: process.env.DISPLAY === undefined && process.env.WAYLAND_DISPLAY === undefined,
	},
	instruments: { type: "boolean", default: false },
	help: { type: "boolean", default: false },
} as const;

await runCommand("simulator", async () => {
	const { values, settings } = parseCommandLine(process.argv.slice(2), OPTIONS);
	if (values.help) {
		process.stdout.write(HELP);
		return;
	}
	const sdk = needSdk();
	console.log("Building the firmware …");
	const library = await buildForSimulator(sdk, fileURLToPath(new URL("../..", import.meta.url)), settings);
	const simulator = await Simulator.start(sdk, library, { headless: values.headless });
	for (const signal of ["SIGINT", "SIGTERM"] as const) {
		process.once(signal, () => void simulator.stop().then(() => process.exit(0)));
	}
	simulator.on("line", (line) => console.log(line));
	if (values.instruments) {
		simulator.on("samples", (samples) => {
			const heap = readHeap(samples);
			console.log(heap === undefined ? "heap: not measured" : describeHeap(heap));
		});
	}
	simulator.on("ended", (reason) => {
		console.error(`The simulator has ended: ${reason}`);
		// Its window may be closed; where there is none, it should have run on.
		process.exit(values.headless ? 1 : 0);
	});
});
