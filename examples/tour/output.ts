import { moveCursor } from "node:readline";
import type { Interface } from "node:readline/promises";
import { styleText } from "node:util";
import type { CallToolResult } from "@modelcontextprotocol/client";
import wrapAnsi from "wrap-ansi";

type Style = "bold" | "dim" | "cyan" | "green" | "red" | "yellow";

const INDENT = "  ";

/** The prompt whose line is kept below what is printed. */
let openPrompt: Interface | undefined;

/** From now on whatever is printed stands above the prompt's line. Undefined: there is no prompt any more. */
export function printAbove(prompt: Interface | undefined): void {
	openPrompt = prompt;
}

/** Colour only on a terminal that a person reads. */
export function paint(style: Style, text: string): string {
	return process.stdout.isTTY && !process.env.NO_COLOR ? styleText(style, text) : text;
}

export function heading(text: string): void {
	print(`\n${paint("bold", text)}`);
}

/** Characters that a line has room for. */
export function lineWidth(): number {
	return Math.max(20, (process.stdout.columns ?? 80) - INDENT.length);
}

/** A line of text, continued below its beginning where the terminal is not wide enough. */
export function line(text: string): void {
	const wrapped = process.stdout.isTTY ? wrapAnsi(text, lineWidth(), { hard: true, trim: false }) : text;
	print(wrapped.replace(/^/gm, INDENT));
}

/** What is to be copied: never broken into lines. */
export function verbatim(text: string): void {
	print(`${INDENT}${text}`);
}

/** Something that happened by itself. */
export function event(text: string): void {
	line(paint("cyan", `<- ${text}`));
}

/** What a tool answered: its content, as a person reads it. */
export function describeResult({ content, isError }: CallToolResult): string {
	const words = content.map((item) => ("text" in item ? String(item.text) : JSON.stringify(item))).join("\n");
	return isError ? paint("red", `failed: ${words}`) : words;
}

function print(text: string): void {
	if (openPrompt === undefined || !process.stdout.isTTY) {
		console.log(text);
		return;
	}
	moveCursor(process.stdout, -process.stdout.columns, -openPrompt.getCursorPos().rows);
	process.stdout.clearScreenDown();
	console.log(text);
	openPrompt.prompt(true);
}
