import { availableParallelism, cpus } from "node:os";

/** Description of this computer. */
export const MACHINE = `${cpus()[0]?.model ?? "CPU"}, ${availableParallelism()} cores, Node ${process.version}`;

export type Report = ReturnType<typeof makeReport>;

/** Makes a report in Markdown, and prints each line as it comes. */
export function makeReport(print: (line: string) => void = console.log) {
	const lines: string[] = [];
	const say = (line = ""): void => {
		lines.push(line);
		print(line);
	};
	const row = (...cells: (string | number)[]): void => say(`| ${cells.join(" | ")} |`);
	const header = (...cells: string[]): void => {
		row(...cells);
		row(...cells.map(() => "---"));
	};
	/** All of it so far, without a line break at the end. */
	const text = (): string => lines.join("\n");
	return { say, row, header, text };
}
