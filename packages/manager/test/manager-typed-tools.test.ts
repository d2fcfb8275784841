import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import ts from "typescript";
import { temporaryFolder } from "../../../host-test/support/testing.js";
import { declarationsOf } from "../src/manager/typed-tools.js";
import { openManager } from "../testing/manager.js";
import { EVERYTHING, FILESYSTEM, nodeServer } from "../testing/upstreams.js";

/** The compiler's errors for these declarations, each a module. */
function problemsOf(folder: string, sources: readonly string[]): string[] {
	const files = sources.map((source, at) => {
		const file = `${folder}/tools-${at}.ts`;
		writeFileSync(file, source);
		return file;
	});
	const program = ts.createProgram(files, { strict: true, noEmit: true, types: [], lib: ["lib.es2022.d.ts"] });
	return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " "));
}

describe("the types of a server's tools", () => {
	it("compile for server-everything and server-filesystem, whose tools can be called by them", async (t) => {
		const folder = temporaryFolder();
		const servers = [nodeServer("everything", EVERYTHING), nodeServer("fs", FILESYSTEM, folder)];
		const manager = await openManager(t, { servers });
		const declarations = ["everything", "fs"].map((server) => declarationsOf(server, manager.listTools(server)));
		const everything = manager.typed<{ echo(params: { message: string }): Promise<string> }>("everything");
		assert.equal(await everything.echo({ message: "hello" }), "Echo: hello");
		const files = manager.typed<{ readTextFile(params: object): Promise<unknown> }>("fs");
		await assert.rejects(files.readTextFile({ path: `${folder}/missing` }), { code: "EXECUTION_FAILED" });
		// Last, because the servers get no ping while the compiler runs in this thread.
		assert.deepEqual(problemsOf(folder, declarations), []);
	});
});
