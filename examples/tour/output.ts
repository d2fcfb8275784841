import { styleText } from "node:util";
import type { CallToolResult } from "@modelcontextprotocol/client";

type Style = "bold" | "dim" | "cyan" | "green" | "red" | "yellow";

/** Colour only on a terminal that a person reads. */
export function paint(style: Style, text: string): string {
	return process.stdout.isTTY && !process.env.NO_COLOR ? styleText(style, text) : text;
}

export function heading(text: string): void {
	console.log(`\n${paint("bold", text)}`);
}

export function line(text: string): void {
	console.log(`  ${text}`);
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
