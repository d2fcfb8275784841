import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Tool } from "@modelcontextprotocol/client";
import { complete, findTool, splitWords } from "../src/tool-names.js";

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

/** Own names of a device, as the gateway's names have them. */
const OWN = new Map([
	["virtual_2__self_screen_set_theme", "self.screen.set_theme"],
	["self_lamp_set", "self.lamp.set"],
]);

describe("a tool's name in the prompt", () => {
	it("is its name in the list, or the device's own name for it", () => {
		assert.equal(findTool(TOOLS, "virtual_2__self_screen_set_theme", OWN), TOOLS[2]);
		assert.equal(findTool(TOOLS, "self.screen.set_theme", new Map()), TOOLS[1]);
		assert.equal(findTool(TOOLS, "self.screen.set_theme", OWN), TOOLS[2]);
		assert.equal(findTool(TOOLS, "self.lamp.set", OWN), TOOLS[3]);
	});

	it("that does not exist is answered with the closest one", () => {
		for (const [name, similar] of [
			["self.lamp.sett", "self.lamp.set"],
			["lamp.set", "self.lamp.set"],
			["set_theme", "self.screen.set_theme"],
			["screen.set_them", "self.screen.set_theme"],
		] as const) {
			assert.throws(() => findTool(TOOLS, name, OWN), new RegExp(`unknown tool: did you mean ${similar}\\?$`));
		}
		assert.throws(() => findTool([], "self.reboot", OWN), /no device has tools$/);
	});

	it("that is similar only to a dangerous one, or to none, is answered with the way to the list", () => {
		for (const name of ["self.reboott", "volume", "self.buzzer.beep"]) {
			assert.throws(() => findTool(TOOLS, name, OWN), /unknown tool: "list" shows the tools$/);
		}
	});

	it("is completed, as commands and arguments are", () => {
		const commands = ["list", "call", "quit"];
		assert.deepEqual(complete("c", commands, TOOLS, OWN), [["call "], "c"]);
		assert.deepEqual(complete("call virtual_1__self_s", commands, TOOLS, OWN), [
			["virtual_1__self_screen_set_theme "],
			"virtual_1__self_s",
		]);
		assert.deepEqual(complete("call self.l", commands, TOOLS, OWN), [["self.lamp.set "], "self.l"]);
		assert.deepEqual(complete("call self_lamp_set on=true c", commands, TOOLS, OWN), [["color="], "c"]);
		assert.deepEqual(complete("call self.lamp.set o", commands, TOOLS, OWN), [["on="], "o"]);
		assert.deepEqual(complete("list x", commands, TOOLS, OWN), [[], "x"]);
	});
});

it("a command at the prompt is split at spaces; quotes keep words together, and colours and addresses need none", () => {
	for (const [text, words] of [
		["call self.light.set color=#ff8000", ["call", "self.light.set", "color=#ff8000"]],
		['take question="What is this?"  x=1', ["take", "question=What is this?", "x=1"]],
		["play url=http://127.0.0.1/a?b=1&c=$d|*", ["play", "url=http://127.0.0.1/a?b=1&c=$d|*"]],
		[`ask choices='["a b","c"]'`, ["ask", 'choices=["a b","c"]']],
		['ask choices=["yes","no, thanks"] x=1', ["ask", 'choices=["yes","no, thanks"]', "x=1"]],
		['say "How are you?"', ["say", "How are you?"]],
		["say it's 5\" long", ["say", "it's", '5"', "long"]],
		["", []],
	] as const) {
		assert.deepEqual(splitWords(text), words);
	}
});
