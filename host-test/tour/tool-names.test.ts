import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Tool } from "@modelcontextprotocol/client";
import { splitWords } from "../../examples/tour/split-words.js";
import { complete, findTool } from "../../examples/tour/tool-names.js";

const tool = (name: string, ...args: string[]): Tool => ({
	name,
	inputSchema: { type: "object", properties: Object.fromEntries(args.map((each) => [each, {}])) },
});

const TOOLS = [
	{ ...tool("virtual_1__self_reboot"), annotations: { destructiveHint: true } },
	tool("virtual_1__self_screen_set_theme", "theme"),
	tool("virtual_2__self_screen_set_theme", "theme"),
	tool("self_lamp_set", "on", "color"),
];

describe("a tool's name in the prompt", () => {
	it("is its name in the list, or the device's own name for it", () => {
		assert.equal(findTool(TOOLS, "virtual_2__self_screen_set_theme"), TOOLS[2]);
		assert.equal(findTool(TOOLS, "self.screen.set_theme"), TOOLS[1]);
		assert.equal(findTool(TOOLS, "self.lamp.set"), TOOLS[3]);
	});

	it("that does not exist is answered with the closest one", () => {
		assert.throws(() => findTool(TOOLS, "self.lamp.sett"), /unknown tool: did you mean self_lamp_set\?$/);
		assert.throws(() => findTool([], "self.reboot"), /no device has tools$/);
	});

	it("that is similar only to a dangerous one, or to none, is answered with the way to the list", () => {
		for (const name of ["self.reboott", "volume"]) {
			assert.throws(() => findTool(TOOLS, name), /unknown tool: "list" shows the tools$/);
		}
	});

	it("is completed, as commands and arguments are", () => {
		const commands = ["list", "call", "quit"];
		assert.deepEqual(complete("c", commands, TOOLS), [["call "], "c"]);
		assert.deepEqual(complete("call virtual_2", commands, TOOLS), [["virtual_2__self_screen_set_theme "], "virtual_2"]);
		assert.deepEqual(complete("call self_lamp_set on=true c", commands, TOOLS), [["color="], "c"]);
		assert.deepEqual(complete("list x", commands, TOOLS), [[], "x"]);
	});
});

describe("a command at the prompt", () => {
	it("is split at spaces; quotes keep words together, and colours and addresses need none", () => {
		for (const [text, words] of [
			["call self.light.set color=#ff8000", ["call", "self.light.set", "color=#ff8000"]],
			['take question="What is this?"  x=1', ["take", "question=What is this?", "x=1"]],
			["play url=http://127.0.0.1/a?b=1&c=$d|*", ["play", "url=http://127.0.0.1/a?b=1&c=$d|*"]],
			[`ask choices='["a b","c"]'`, ["ask", 'choices=["a b","c"]']],
			["say it's 5\" long", ["say", "it's", '5"', "long"]],
			["", []],
		] as const) {
			assert.deepEqual(splitWords(text), words);
		}
	});
});
