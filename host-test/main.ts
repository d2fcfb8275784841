// npm test: every suite, on every engine that is there, and says what ran where.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chooseEngine } from "../virtual-device/src/index.js";

const root = fileURLToPath(new URL("../", import.meta.url));
const FOLDERS = ["host-test", "virtual-device/src", "gateway/src"];

const { whyNotXs } = await chooseEngine("xs", { onProgress: console.log });
console.log(
	`Suites of the firmware: on Node ${process.version}${whyNotXs === undefined ? ", and the same on XS" : ""}`,
);
if (whyNotXs !== undefined) {
	console.log(`Not on XS: ${whyNotXs}`);
}
if (process.env.MODDABLE === undefined) {
	console.log("Not in the Moddable simulator: MODDABLE is not set");
}

const files = FOLDERS.flatMap((folder) =>
	readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
		.filter((name) => name.endsWith(".test.ts"))
		.map((name) => `${root}${folder}/${name}`),
);
const { status } = spawnSync(
	process.execPath,
	["--import", `${root}scripts/register.mjs`, "--test", "--test-reporter=spec", ...files],
	{ stdio: "inherit", cwd: root },
);
process.exit(status ?? 1);
