import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { moveCursor } from "node:readline";
import type { Interface } from "node:readline/promises";
import { styleText } from "node:util";
import type { CallToolResult } from "@modelcontextprotocol/client";
import wrapAnsi from "wrap-ansi";
import { saveMedia } from "xs-mcp-gateway/save-media";

type Style = "bold" | "dim" | "cyan" | "green" | "red" | "yellow";

const INDENT = "  ";

/** Minimum width of a text next to its term. With less room, it is printed below the term. */
const MIN_ROOM = 40;

/** The prompt whose line is kept below what is printed. */
let openPrompt: Interface | undefined;

/** Keeps a prompt's line below everything that is printed from now on. Undefined: there is no prompt any more. */
export function printAbove(prompt: Interface | undefined): void {
	openPrompt = prompt;
}

/** Colour only on a terminal that a person reads. */
export function paint(style: Style, text: string): string {
	return process.stdout.isTTY && !process.env.NO_COLOR ? styleText(style, text) : text;
}

export function heading(text: string): void {
	print(`\n${paint("bold", wrapped(text, lineWidth()))}`);
}

/** Characters that a line has room for. */
export function lineWidth(): number {
	return Math.max(20, (process.stdout.columns || 80) - INDENT.length);
}

/** A line of text, continued below its beginning where the terminal is not wide enough. */
export function line(text: string): void {
	const lines = text.split("\n").map((each) => {
		const [indent = ""] = /^ */.exec(each) ?? [];
		return wrapped(each.slice(indent.length), lineWidth() - indent.length).replace(/^/gm, indent);
	});
	print(lines.join("\n").replace(/^/gm, INDENT));
}

/** A line of a table: a term and its meaning, which is below it where the terminal is narrow. */
export function entry(term: string, termWidth: number, text: string): void {
	const room = lineWidth() - termWidth - 1;
	if (process.stdout.isTTY && room < MIN_ROOM) {
		line(paint("green", term));
		line(`${INDENT}${text}`);
		return;
	}
	const beside = wrapped(text, room).replace(/\n/g, `\n${" ".repeat(termWidth + 1)}`);
	line(`${paint("green", term.padEnd(termWidth))} ${beside}`);
}

/** Wraps a text at a number of characters, on a terminal only. */
function wrapped(text: string, width: number): string {
	return process.stdout.isTTY ? wrapAnsi(text, Math.max(1, width), { hard: true }) : text;
}

/** Prints a text for copying: never broken into lines. */
export function verbatim(text: string): void {
	print(`${INDENT}${text}`);
}

/** Prints an event that no command has caused. */
export function event(text: string): void {
	line(paint("cyan", `<- ${text}`));
}

/** Describes a tool's result for a person. Pictures and sounds are saved. */
export async function describeResult({ content, isError }: CallToolResult): Promise<string> {
	const saved = await savePictures(content);
	const words = content.map((block) => {
		const file = saved.get(block);
		return file !== undefined ? `saved: ${file}` : "text" in block ? String(block.text) : JSON.stringify(block);
	});
	return isError ? paint("red", `failed: ${words.join("\n")}`) : words.join("\n");
}

async function savePictures(content: CallToolResult["content"]): Promise<ReadonlyMap<unknown, string>> {
	const block = content.find(({ type }) => type === "image" || type === "audio");
	if (block === undefined || !("mimeType" in block)) {
		return new Map();
	}
	const folder = await mkdtemp(join(tmpdir(), "xs-mcp-picture-"));
	return await saveMedia(content, join(folder, `${block.type}.${String(block.mimeType).split("/")[1]}`));
}

/** Prints an unformatted text, above the prompt. */
export function print(text: string): void {
	if (openPrompt === undefined || !process.stdout.isTTY) {
		console.log(text);
		return;
	}
	moveCursor(process.stdout, -process.stdout.columns, -openPrompt.getCursorPos().rows);
	process.stdout.clearScreenDown();
	console.log(text);
	openPrompt.prompt(true);
}
