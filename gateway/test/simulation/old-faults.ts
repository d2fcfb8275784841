import { readFileSync } from "node:fs";

/** A change of the sources, by which an old fault is put back. */
export interface Patch {
	/** Path in this repository. */
	readonly file: string;
	/** Text that is in the file once. */
	readonly from: string;
	readonly to: string;
}

/** A fault that the gateway had, and how to put it back. */
export interface OldFault {
	readonly name: string;
	/** The first seed that finds it, with 30 steps. */
	readonly seed: number;
	readonly patches: readonly Patch[];
}

/** `npm run simulate -- --fault NAME` shows how many seeds find one of them. */
export const OLD_FAULTS: readonly OldFault[] = readFileSync(new URL("old-faults.patch", import.meta.url), "utf8")
	.split(/^fault /m)
	.slice(1)
	.map((text) => {
		const [, name = "", seed] = /^(\S+), seed (\d+)/.exec(text) ?? [];
		const patches = text.split(/^--- /m).slice(1);
		return { name, seed: Number(seed), patches: patches.map(readPatch) };
	});

function readPatch(text: string): Patch {
	const [file = "", ...lines] = text.split("\n");
	const linesWith = (sign: string): string =>
		lines.flatMap((line) => (line.startsWith(sign) ? [line.slice(1)] : [])).join("\n");
	return { file, from: linesWith("-"), to: linesWith("+") };
}
