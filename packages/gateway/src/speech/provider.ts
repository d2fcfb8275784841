import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { Configuration } from "../config/settings.js";
import type { ModelService } from "../http/model-service.js";

/** Use of a provider, by which its settings begin. */
type Use = "speech" | "transcription";

/** Reads the provider of speech or transcription: a program, or a service. Undefined if none is configured. */
export function readProvider(
	configuration: Configuration,
	use: Use,
): { readonly command: string } | ModelService | undefined {
	const command = configuration[`${use}Command`];
	const [url, model, key] = [configuration[`${use}Url`], configuration[`${use}Model`], configuration[`${use}Key`]];
	if (command !== undefined) {
		return { command };
	}
	return url === undefined || model === undefined ? undefined : { url, model, key };
}

/** Returns the problems of its settings. A program is not looked for on Windows, which finds programs by their endings. */
export function checkProvider(configuration: Configuration, use: Use): string[] {
	const { [`${use}Command` as const]: command, [`${use}Url` as const]: url } = configuration;
	if (command === undefined) {
		return [];
	}
	const problems = url === undefined ? [] : [`${use}Command, ${use}Url: only one of them can be set`];
	const [program = ""] = splitCommand(command);
	const folders = (process.env.PATH ?? "").split(delimiter);
	const paths = program.includes("/") ? [program] : folders.map((folder) => join(folder, program));
	if (process.platform !== "win32" && !paths.some(isExecutable)) {
		const where = program.includes("/") ? "" : " in a folder of PATH";
		problems.push(`${use}Command: no program ${program}${where}`);
	}
	return problems;
}

/** Splits a command into its program and arguments, at spaces. A word in quotes may contain some. */
export function splitCommand(command: string): string[] {
	const words = command.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
	return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, "$1$2"));
}

function isExecutable(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
