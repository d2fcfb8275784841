import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { readScenario } from "xs-mcp-virtual-device/scenario";
import { cases } from "../host-test/support/scope.js";
import { temporaryFolder } from "../host-test/support/testing.js";
import { ENGINE, openOverWebSocket } from "./fixtures.js";
import { runVirtualDevice } from "./gateway-process.js";

const EXAMPLES = fileURLToPath(new URL("../examples/scenarios/", import.meta.url));

function write(text: string): string {
	const file = join(temporaryFolder(), "scenario.yaml");
	writeFileSync(file, text);
	return file;
}

async function run(t: TestContext, file: string, ...args: string[]): Promise<{ code: number | null; output: string }> {
	const { config } = await openOverWebSocket(t);
	return await runVirtualDevice(
		...["--url", config.backend, "--token", "secret", "--engine", ENGINE.kind, "--scenario", file, ...args],
	);
}

describe("npm run device -- --scenario", () => {
	for (const name of cases(readdirSync(EXAMPLES))) {
		it(`runs examples/scenarios/${name} with a gateway`, async (t) => {
			const { code, output } = await run(t, `${EXAMPLES}${name}`);
			assert.match(output, /^scenario: passed$/m);
			assert.equal(code, 0, output);
		});
	}

	it("sets and expects the pins of a device of one's own", async (t) => {
		const manifest = ["--manifest", "examples/pump/manifest.json"];
		const passed = await run(t, `${EXAMPLES}../pump/dry-soil.yaml`, ...manifest);
		assert.match(passed.output, /^scenario: passed$/m);
		assert.equal(passed.code, 0, passed.output);
		const wrong = write("steps:\n  - expect: { pump: on, within: 1s }\n");
		const failed = await run(t, wrong, ...manifest);
		assert.match(
			failed.output,
			/^scenario: line 2: not at the pins within 1000 ms: \{"pump":\{"on":true\}\}\nlast pins:\n/m,
		);
		const unknown = await run(t, write("steps:\n  - set: { sun: 5 }\n"), ...manifest);
		assert.match(unknown.output, /^scenario: line 2: sun: expected door, soil$/m);
	});

	it("exits with 1 and says what did not happen, and what happened instead", async (t) => {
		const file = write(
			"steps:\n  - expect: { sent: { type: hello } }\n  - press:\n  - expect: { sent: { type: abort }, within: 3s }\n",
		);
		const { code, output } = await run(t, file);
		assert.equal(code, 1, output);
		assert.match(output, /^scenario: line 4: not sent within 3000 ms: \{"type":"abort"\}\nlast sent:\n/m);
	});
});

it("a scenario names a board with or without esp32/", async () => {
	for (const name of ["m5dial", "esp32/m5dial"]) {
		const { board } = await readScenario(write(`board: ${name}\nsteps:\n  - press:\n`));
		assert.equal(board, "m5dial");
	}
	assert.equal((await readScenario(write("steps:\n  - press:\n"))).board, undefined);
});

describe("a scenario that cannot be used", () => {
	for (const [what, text, expected] of [
		["is not YAML", "steps:\n  - press: [1\n", /^scenario\.yaml:[23]: /],
		[
			"has an unknown field",
			"sead: 1\nsteps:\n  - press:\n",
			/^scenario\.yaml:1: sead: unknown field \(expected seed, board, steps\)$/,
		],
		["has no steps", "seed: 2\n", /^scenario\.yaml:1: steps: expected a list of steps$/],
		[
			"has an unknown action",
			"steps:\n  - press:\n  - jump: 3\n",
			/^scenario\.yaml:3: steps\[1\]\.jump: unknown field \(expected wait, press, /,
		],
		[
			"does two things at once",
			"steps:\n  - press: 5\n    say: Hi\n",
			/^scenario\.yaml:3: steps\[0\]\.say: a step has one action, and this one already has press$/,
		],
		[
			"has a value out of range",
			"steps:\n  - press:\n      milliseconds: 70000\n",
			/^scenario\.yaml:3: steps\[0\]\.press\.milliseconds: expected a whole number from 1 to 60000$/,
		],
		[
			"expects what is neither a pin's value nor another field",
			"steps:\n  - expect: { sned: { type: hello } }\n",
			/^scenario\.yaml:2: steps\[0\]\.expect\.sned: expected on, off or a number of a pin; other fields are sent, /,
		],
		[
			"has no time",
			"steps:\n  - wait: soon\n",
			/^scenario\.yaml:2: steps\[0\]\.wait: expected a time of at most an hour/,
		],
		[
			"names an unknown board",
			"board: m5dail\nsteps:\n  - press:\n",
			/^scenario\.yaml:1: board: expected virtual, esp32, .*, …; the nearest is m5dial$/,
		],
		[
			"names a photo that does not exist",
			"steps:\n  - photo: none.jpg\n",
			/^scenario\.yaml:2: steps\[0\]\.photo: ENOENT/,
		],
	] as const) {
		it(`says its line and field if it ${what}`, async () => {
			await assert.rejects(readScenario(write(text)), { name: "ScenarioError", message: expected });
		});
	}
});
