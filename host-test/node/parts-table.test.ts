import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const FOLDER = `${ROOT}src/hardware/`;

const sources = readdirSync(FOLDER).map((name) => readFileSync(FOLDER + name, "utf8"));

/** The text between the braces of an interface. */
function bodyOf(name: string): string | undefined {
	return sources
		.map((text) => new RegExp(`^(?:export )?interface ${name} \\{\n(.*?)\n\\}`, "ms").exec(text)?.[1])
		.find(Boolean);
}

/** The members of a part; those of each light and so on, where a part has several by name. */
function membersOf(type: string): string[] {
	const body = bodyOf(type);
	if (body === undefined) {
		const record = sources.map((text) => new RegExp(`^(?:export )?type ${type} = .*, (\\w+)>>;`, "m").exec(text)?.[1]);
		return membersOf(record.find(Boolean) ?? assert.fail(`${type} is neither an interface nor a record`));
	}
	return Array.from(body.matchAll(/^\t(?:readonly )?(\w+)\??(\(?)/gm), ([, name, call]) => name + (call ? "()" : ""));
}

it("docs/add-a-tool.md lists the parts that a tool may need, with their members", () => {
	const parts = Array.from(
		(bodyOf("Hardware") ?? "").matchAll(/^\treadonly (\w+)\?: (\w+);/gm),
		([, part = "", type = ""]) => {
			const name = bodyOf(type) === undefined ? `${part}.NAME` : part;
			return `${name.padEnd(14)}${membersOf(type).join(", ")}\n`;
		},
	);
	const block = /The parts and their members[^`]*```\n(.*?)```/s.exec(
		readFileSync(`${ROOT}docs/add-a-tool.md`, "utf8"),
	);
	assert.equal(block?.[1], parts.sort().join(""));
});
