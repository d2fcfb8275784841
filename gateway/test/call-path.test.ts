import assert from "node:assert/strict";
import { it, type TestContext } from "node:test";
import { calledFunctions, documentedPath } from "../../host-test/support/call-path.js";
import { connectClient, ERAS, WireDevice } from "./support/gateway.js";
import { startProgram } from "./support/program.js";

type Era = keyof typeof ERAS;

/** Files that do something with each call. */
const MAX_STEPS = 14;

/** Files that these ask. */
const MAX_ASKED = 30;

/** Frees lists when the garbage collector runs, which may be during the call. */
const FINALIZER = "core/shared-lists.ts";

/** A gateway with a device, and a client with a token. */
async function connect(t: TestContext, era: Era) {
	// Their log of the previous call would be written meanwhile.
	const started = await startProgram(t, { auditBytes: 0, historyBytes: 0 });
	const token = await started.tokens.add({ name: "laptop", kind: "client" });
	const device = { arrived(): void {}, answer(): void {} };
	await WireDevice.connect(t, started, {
		onCall: ({ id }, wire) => {
			device.answer = () => wire.answer(id, { content: [{ type: "text", text: "true" }], isError: false });
			device.arrived();
			return undefined;
		},
	});
	return { device, client: await connectClient(t, new URL(`${started.base}/mcp`), era, { token }) };
}

/** The functions of the gateway that run for a call, by their files: from the HTTP request until the device has it. */
async function traceCall(t: TestContext, era: Era): Promise<Map<string, string[]>> {
	// Nothing but the call runs meanwhile.
	t.mock.timers.enable({ apis: ["setInterval", "setTimeout"] });
	const { device, client } = await connect(t, era);
	const [{ name } = { name: "" }] = (await client.listTools()).tools;
	let path = new Map<string, string[]>();
	// The first call opens what later ones use.
	for (let count = 0; count < 3; count++) {
		let result: Promise<unknown> = Promise.resolve();
		path = await calledFunctions(["gateway/src", "mcp-manager/src"], async () => {
			const arrival = new Promise<void>((resolve) => {
				device.arrived = resolve;
			});
			result = client.callTool({ name, arguments: { volume: 1 } });
			await arrival;
		});
		device.answer();
		await result;
	}
	return path;
}

/** Named functions: neither closures and getters nor what V8 calls the initial values of a class's fields. */
function namedOf(functions: readonly string[]): string[] {
	const names = functions.map((each) => each.split(".").at(-1) as string);
	return [...new Set(names.filter((each) => !/^$|^get |^</.test(each)))].sort();
}

it("a call at the gateway takes the steps that docs/architecture.md lists, and no more than it may", async (t) => {
	const rows = documentedPath("| step of the call | functions | asks |");
	const steps = new Map(rows.map(({ file, functions }) => [file, functions]));
	const asked = rows.flatMap(({ others }) => others);
	const taken = new Map<string, string[]>();
	for (const era of Object.keys(ERAS) as Era[]) {
		await t.test(era, async (each) => {
			const isKnown = (file: string): boolean => steps.has(file) || asked.includes(file);
			const path = [...(await traceCall(each, era))].filter(([file]) => file !== FINALIZER);
			for (const [file, functions] of path) {
				taken.set(file, namedOf([...(taken.get(file) ?? []), ...functions]));
			}
			const files = path.map(([file]) => file);
			assert.deepEqual(files.filter((file) => !isKnown(file)).sort(), []);
			const count = files.filter((file) => steps.has(file)).length;
			assert.ok(count <= MAX_STEPS, `${count} steps`);
			assert.ok(files.length - count <= MAX_ASKED, `${files.length - count} files are asked`);
		});
	}
	assert.deepEqual([...taken.keys()].sort(), [...steps.keys(), ...asked].sort());
	for (const [file, functions] of steps) {
		assert.deepEqual(taken.get(file), functions, file);
	}
});
