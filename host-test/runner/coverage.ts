import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CoverageReport } from "monocart-coverage-reports";
import { ROOT } from "xs-mcp/root";

const FOLDER = `${ROOT}.cache/coverage`;

/** Measured sources. Boards and the platform run only on XS, whose coverage is not measured. */
const MEASURED = /^(?:src|packages\/(?:gateway|manager)\/src)\/(?!hardware\/boards\/|platform\/|main\.ts)/;

const MIN_LINES = 90;

/** The bundle of tests whose coverage is reported after this process: the report needs it. */
export const RECORDED_BUNDLE = { folder: `${ROOT}.cache/tests/recorded`, isKept: true };

/** Environment in which test processes write their coverage. */
export function openCoverage(adds: boolean): NodeJS.ProcessEnv {
	if (!adds) {
		rmSync(FOLDER, { recursive: true, force: true });
		rmSync(RECORDED_BUNDLE.folder, { recursive: true, force: true });
	}
	mkdirSync(FOLDER, { recursive: true });
	return { NODE_V8_COVERAGE: FOLDER };
}

/** Removes truncated files of processes that were killed while they wrote. */
function removeUnfinished(): void {
	for (const name of readdirSync(FOLDER)) {
		if (!readFileSync(join(FOLDER, name)).subarray(-1).equals(Buffer.from("}"))) {
			rmSync(join(FOLDER, name));
		}
	}
}

/** Prints the coverage, and writes the details to `.cache/coverage-report`. */
export async function reportCoverage(): Promise<number> {
	const report = new CoverageReport({
		name: "xs-mcp",
		outputDir: `${ROOT}.cache/coverage-report`,
		reports: ["console-summary", "html"],
		logging: "error",
		entryFilter: (entry) => entry.url.includes("/.cache/"),
		sourceFilter: (path) => MEASURED.test(path),
		// Other packages keep their path, and are not measured.
		sourcePath: (path) =>
			path.includes("node_modules/") ? path : path.replace(/^.*?(?=(?:packages\/(?:gateway|manager)\/)?src\/)/, ""),
	});
	removeUnfinished();
	await report.addFromDir(FOLDER);
	const lines = Number((await report.generate())?.summary.lines?.pct);
	if (!(lines >= MIN_LINES)) {
		console.error(`error: ${lines} % of the lines are covered; at least ${MIN_LINES} % must be`);
		return 1;
	}
	return 0;
}
