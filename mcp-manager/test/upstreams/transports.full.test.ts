import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { temporaryFolder } from "../../../host-test/support/temporary-folder.js";
import { callText, connected, FILESYSTEM, MEMORY, nodeServer, startEverything } from "../support/upstreams.js";

describe("a configured server", () => {
	it("over stdio is server-filesystem from npm", async (t) => {
		const folder = temporaryFolder();
		const { server } = await connected(t, nodeServer("fs", FILESYSTEM, folder));
		await callText(server, "write_file", { path: `${folder}/note.txt`, content: "noted" });
		assert.equal(await callText(server, "read_text_file", { path: `${folder}/note.txt` }), "noted");
	});

	it("over stdio is server-memory from npm, with an environment variable", async (t) => {
		const folder = temporaryFolder();
		const env = { MEMORY_FILE_PATH: `${folder}/memory.jsonl` };
		const { server } = await connected(t, { ...nodeServer("memory", MEMORY), env });
		await callText(server, "create_entities", {
			entities: [{ name: "lamp", entityType: "device", observations: ["is red"] }],
		});
		assert.match(await callText(server, "read_graph", {}), /is red/);
	});

	it("over SSE is server-everything", async (t) => {
		const { port } = await startEverything(t, "sse");
		const { server } = await connected(t, { id: "sse", url: `sse://127.0.0.1:${port}/sse` });
		assert.match(await callText(server, "echo", { message: "hello" }), /hello/);
	});
});
