import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { cases } from "../../../host-test/support/scope.js";
import { resultFor } from "../src/mcp/contents.js";
import { connectClient, ERAS, startWithDevice } from "../testing/gateway.js";

const text = (value: string) => ({ type: "text" as const, text: value });
const NEWEST = "2026-07-28";

describe("a result that is a sole text", () => {
	for (const value of ["true", "50", "-1.5", "null", '"dark"', "[1,2]", " 7\n"]) {
		it(`has structuredContent for clients that parse it: ${JSON.stringify(value)}`, () => {
			const result = resultFor({ content: [text(value)] }, NEWEST);
			assert.deepEqual(result, { content: [text(value)], structuredContent: { result: JSON.parse(value) } });
		});
	}

	it("is left as it is if it is an object, prose, an error, or beside something else", () => {
		const picture = { type: "image" as const, mimeType: "image/png", data: "" };
		for (const result of [
			{ content: [text('{"volume":50}')] },
			{ content: [text("done")] },
			{ content: [text("")] },
			{ content: [text("true")], isError: true },
			{ content: [text(`${"[".repeat(5_000)}${"]".repeat(5_000)}`)] },
			{ content: [text("true"), picture] },
			{ content: [text("true"), text("50")] },
			{ content: [text("true")], structuredContent: { volume: 50 } },
			{ content: [] },
		]) {
			assert.deepEqual(resultFor(result, NEWEST), result);
		}
	});

	it("is left as it is for revisions without structured content", () => {
		assert.deepEqual(resultFor({ content: [text("true")] }, "2025-03-26"), { content: [text("true")] });
	});
});

/** As Gemini CLI reads a result: a sole text that is JSON must be a record. */
function readAsGemini({ content, structuredContent }: { content: readonly object[]; structuredContent?: unknown }) {
	const [block] = content as { text: string }[];
	const structured = structuredContent ?? JSON.parse(block?.text ?? "");
	assert.ok(typeof structured === "object" && structured !== null && !Array.isArray(structured), "expected record");
	return structured;
}

for (const era of cases(Object.keys(ERAS) as (keyof typeof ERAS)[])) {
	describe(`a device's "true" and a client of ${era}`, () => {
		const connect = async (t: TestContext) => {
			const { side } = await startWithDevice(t);
			return await connectClient(t, side.clientUrl(), era);
		};
		const call = { name: "lamp_000001__self_audio_speaker_set_volume", arguments: { volume: 50 } };

		it("is a record, and the text is unchanged, also by tool_call", async (t) => {
			const client = await connect(t);
			for (const asked of [call, { name: "tool_call", arguments: call }]) {
				const result = await client.callTool(asked);
				assert.deepEqual(result.content, [text("true")]);
				assert.deepEqual(readAsGemini(result), { result: true });
			}
		});
	});
}
