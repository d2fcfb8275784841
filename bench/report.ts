import { availableParallelism, cpus } from "node:os";

/** Description of this computer. */
export const MACHINE = `${cpus()[0]?.model ?? "CPU"}, ${availableParallelism()} cores, Node ${process.version}`;

/** A report in Markdown, printed as it grows. */
export interface Report {
	say(line?: string): void;
	/** A table's row. */
	row(...cells: (string | number)[]): void;
	/** A table's first row. */
	header(...cells: string[]): void;
	/** All of it so far, without a line break at the end. */
	text(): string;
}

/** @param print is given each line */
export function makeReport(print: (line: string) => void = console.log): Report {
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
	return { say, row, header, text: () => lines.join("\n") };
}
