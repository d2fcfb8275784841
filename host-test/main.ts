// npm test: every suite, on every engine that is there, and says what ran where. npm run test:simulator: on Moddable's alone.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { NO_SDK } from "../scripts/moddable/sdk.js";
import { chooseEngine } from "../virtual-device/src/index.js";

const root = fileURLToPath(new URL("../", import.meta.url));
const FOLDERS = ["host-test", "scripts", "virtual-device/src", "gateway/test"];

async function announceXs(): Promise<void> {
	const { whyNotXs } = await chooseEngine("xs", { onProgress: console.log });
	console.log(
		`Suites of the firmware: on Node ${process.version}${whyNotXs === undefined ? ", and the same on XS" : ""}`,
	);
	if (whyNotXs !== undefined) {
		console.log(`Not on XS: ${whyNotXs}`);
	}
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
		.map((name) => `${root}${folder}/${name}`);
}

const simulatorOnly = process.argv.includes("--simulator");
if (!simulatorOnly) {
	await announceXs();
}
announceSimulator();
const files = (simulatorOnly ? ["host-test/simulator"] : FOLDERS).flatMap(findTests);
const { status } = spawnSync(
	process.execPath,
	// Many tests wait for a network more than they compute: two files at a time, where Node would take one a core but one.
	["--import", `${root}scripts/register.mjs`, "--test", "--test-concurrency=2", "--test-reporter=spec", ...files],
	{ stdio: "inherit", cwd: root },
);
process.exit(status ?? 1);
