import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** A component of ESP-IDF as the SDK's makefile adds it: its name, the file that lists it, its version. */
const COMPONENT = /grep -q '([\w/-]+)' (\S+) \|\| idf\.py add-dependency "\1([^"]*)"/g;

/**
 * Lists the components that ESP-IDF downloads, such as the driver of a camera. The SDK's makefile adds
 * missing ones in parallel, while it configures ESP-IDF, so that a first build can fail.
 *
 * @param folder where mcconfig has written its makefiles
 */
export function listComponents(folder: string): void {
	for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
		if (basename(path) === "makefile") {
			writeList([...readFileSync(join(folder, path), "utf8").matchAll(COMPONENT)]);
		}
	}
}

function writeList(components: readonly RegExpMatchArray[]): void {
	const lines = components.map(([, name, , version]) => `  ${name}: "${version || "*"}"\n`);
	const text = `dependencies:\n${lines.join("")}`;
	const file = components[0]?.[2];
	if (file !== undefined && (!existsSync(file) || readFileSync(file, "utf8") !== text)) {
		mkdirSync(dirname(file), { recursive: true });
		writeFileSync(file, text);
	}
}
