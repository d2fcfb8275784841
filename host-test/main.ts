// npm test: every suite, on every engine that is there, and says what ran where. npm run test:simulator: on Moddable's alone.
// npm run test:esp32: the firmware's image in QEMU alone, which npm test leaves out, because building it takes minutes.
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { findQemuTools } from "../scripts/moddable/qemu.js";
import { NO_SDK } from "../scripts/moddable/sdk.js";
import { makeProgram, runProgram } from "../scripts/program.js";
import { chooseEngine } from "../virtual-device/src/index.js";
import { runTests } from "./support/run-tests.js";

const root = fileURLToPath(new URL("../", import.meta.url));
const ESP32 = "host-test/esp32";
const SIMULATOR = "host-test/simulator";
const TIMEOUT = "--test-timeout=1200000";
const FOLDERS = ["host-test", "scripts", "examples", "virtual-device/src", "gateway/test"];

async function announceXs(): Promise<void> {
	const { whyNotXs } = await chooseEngine("xs", { onProgress: console.log });
	console.log(
		`Suites of the firmware: on Node ${process.version}${whyNotXs === undefined ? ", and the same on XS" : ""}`,
	);
	if (whyNotXs !== undefined) {
		console.log(`Not on XS: ${whyNotXs}`);
	}
}

function announceEsp32(): void {
	const tools = findQemuTools();
	console.log(
		typeof tools === "string"
			? `Not in QEMU: ${tools}`
			: "On an ESP32-C3 in QEMU: its image is built first, which takes many minutes the first time",
	);
}

function announceSimulator(): void {
	console.log(
		process.env.MODDABLE
			? "In Moddable's simulator: built first, which takes a minute or two the first time"
			: `Not in Moddable's simulator: ${NO_SDK}`,
	);
}

function findTests(folder: string): string[] {
	return readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
		.filter((name) => name.endsWith(".test.ts"))
		.map((name) => `${folder}/${name}`)
		.filter((path) => folder === ESP32 || !path.startsWith(`${ESP32}/`));
}

const program = makeProgram("test", "Runs the tests: of everything, on Node, and on XS where it can be built.")
	.option("--simulator", "only the firmware's, in Moddable's simulator: npm run test:simulator")
	.option("--esp32", "only the firmware's image, on an ESP32-C3 in QEMU: npm run test:esp32")
	.action(async ({ simulator = false, esp32 = false }: { simulator?: boolean; esp32?: boolean }) => {
		if (esp32) {
			announceEsp32();
			// One after another: they build in the same folder.
			process.exitCode = await runTests(findTests(ESP32), { flags: ["--test-concurrency=1"] });
			return;
		}
		if (!simulator) {
			await announceXs();
		}
		announceSimulator();
		// One after another: they build in the same folder, and share the simulator's stored settings.
		const codes = [await runTests(findTests(SIMULATOR), { flags: ["--test-concurrency=1", TIMEOUT] })];
		if (!simulator) {
			const files = FOLDERS.flatMap(findTests).filter((path) => !path.startsWith(`${SIMULATOR}/`));
			// Many wait for a network more than they compute: two files at a time, where Node would take one a core but one.
			codes.push(await runTests(files, { flags: ["--test-concurrency=2", TIMEOUT] }));
		}
		process.exitCode = Math.max(...codes);
	});

await runProgram(program);
