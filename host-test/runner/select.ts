import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "xs-mcp/root";

export function bundledPath(folder: string, source: string): string {
	return join(folder, source.replace(/\.ts$/, ".js"));
}

const TEST_FOLDERS = [
	"host-test",
	"e2e",
	"packages/virtual-device/test",
	"packages/manager/test",
	"packages/gateway/test",
	"packages/xs-mcp/test",
	"tools",
];

/** Run by commands of their own, because they need the Moddable SDK or QEMU. */
export const SIMULATOR_TESTS = "host-test/simulator";
export const ESP32_TESTS = "host-test/esp32";

const FIXTURES = "host-test/fixtures";

/** Runs the suites of the firmware on Node. Sources of the firmware have no tests in the same place. */
const FIRMWARE_TESTS = "host-test/node/suites.test.ts";

/** Files of this name are left out of `npm test`, and run by `npm run test:all`. */
export const FULL_ONLY = /\.full\.test\.ts$/;

/** Import of test files with a matrix. */
export const SCOPE = "host-test/support/scope.ts";

export function testsIn(folder: string): string[] {
	return readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: "utf8" })
		.filter((name) => name.endsWith(".test.ts") && !name.includes("node_modules"))
		.map((name) => join(folder, name))
		.sort();
}

/** Every test file but those of the simulator and of QEMU; without `full` also without those that only it runs. */
export function allTests({ full }: { readonly full: boolean }): string[] {
	return TEST_FOLDERS.flatMap(testsIn).filter(
		(path) =>
			![SIMULATOR_TESTS, ESP32_TESTS, FIXTURES].some((folder) => path.startsWith(`${folder}/`)) &&
			(full || !FULL_ONLY.test(path)),
	);
}

/**
 * Returns the test files of an argument of `npm test`: a test file, a folder of them, the beginning of their names
 * ("packages/gateway/test/http"), or sources, whose tests have the same path below `test/`, with "-" for "/" in flat folders.
 */
export function testsFor(argument: string): string[] {
	const path = join(argument).replace(/\/$/, "");
	if (path.endsWith(".test.ts") && existsSync(`${ROOT}${path}`)) {
		return [path];
	}
	const flat = (each: string) => each.replace(/[\\/]/g, "-");
	const start = flat(path.replace(/^(packages[\\/][\w-]+[\\/])src\b/, "$1test").replace(/\.ts$/, ""));
	const found = TEST_FOLDERS.flatMap(testsIn).filter(
		(name) => flat(name).startsWith(start) && /[.-]/.test(flat(name).charAt(start.length)),
	);
	if (found.length > 0) {
		return found;
	}
	const hint = /^src\b/.test(path)
		? `the tests of src/: ${FIRMWARE_TESTS}`
		: "name a test file, a folder of tests, or a folder of sources";
	throw new RangeError(`${argument}: no tests found; ${hint}`);
}
