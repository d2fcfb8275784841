import { readFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { fileURLToPath } from "node:url";

const DOCUMENT = fileURLToPath(new URL("../../docs/architecture.md", import.meta.url));

/** A row of a table of docs/architecture.md that begins with a file. */
export interface PathRow {
	readonly file: string;
	readonly functions: readonly string[];
	/** The words in the further columns that are set as code. */
	readonly others: readonly string[];
}

/** The functions of some folders that run meanwhile, by their files: "protocols/protocol.ts" to "send". */
export async function calledFunctions(
	folders: readonly string[],
	run: () => Promise<void> | void,
): Promise<Map<string, string[]>> {
	const session = new Session();
	session.connect();
	await session.post("Debugger.enable");
	await session.post("Profiler.enable");
	await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
	await session.post("Profiler.takePreciseCoverage");
	await run();
	const { result } = await session.post("Profiler.takePreciseCoverage");
	const found = new Map<string, string[]>();
	for (const { scriptId, functions } of result) {
		const called = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
		const source = called.length > 0 ? (await session.post("Debugger.getScriptSource", { scriptId })).scriptSource : "";
		// The bundle of the tests has each file's path above its code.
		const starts = [...source.matchAll(/^\/\/ (\S+\.ts)$/gm)];
		for (const { functionName, ranges } of called) {
			const file = starts.filter(({ index = 0 }) => index <= (ranges[0]?.startOffset ?? 0)).at(-1)?.[1] ?? "";
			const folder = folders.find((each) => file.startsWith(`${each}/`));
			if (folder !== undefined) {
				const path = file.slice(folder.length + 1);
				found.set(path, [...(found.get(path) ?? []), functionName].sort());
			}
		}
	}
	session.disconnect();
	return found;
}

/** The rows below this line of docs/architecture.md, which is the head of a table. */
export function documentedPath(head: string): PathRow[] {
	const [, below = ""] = readFileSync(DOCUMENT, "utf8").split(`\n${head}\n`);
	const [, table = ""] = /^\|[ |-]+\|\n((?:\|.*\n)+)/.exec(below) ?? [];
	const codes = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code as string);
	return table
		.trimEnd()
		.split("\n")
		.map((row) => row.split("|").slice(1).map(codes))
		.map(([[file = ""] = [], functions = [], ...others]) => ({
			file,
			functions: [...functions].sort(),
			others: others.flat(),
		}));
}
