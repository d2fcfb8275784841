import { writeFileSync } from "node:fs";

/** A report in Markdown, printed as it grows. */
export interface Report {
	say(line?: string): void;
	/** A table's row. */
	row(...cells: (string | number)[]): void;
	/** A table's first row. */
	header(...cells: string[]): void;
	/** Writes all of it to a file. */
	write(path: string): void;
}

export function makeReport(): Report {
	const lines: string[] = [];
	const say = (line = ""): void => {
		lines.push(line);
		console.log(line);
	};
	const row = (...cells: (string | number)[]): void => say(`| ${cells.join(" | ")} |`);
	const header = (...cells: string[]): void => {
		row(...cells);
		row(...cells.map(() => "---"));
	};
	return { say, row, header, write: (path) => writeFileSync(path, `${lines.join("\n")}\n`) };
}
