// The suites import `globSync` from Node's `fs`, which has it since Node 22, and call it only in commands that are not run
// here. This lets them start on Node 20: `node --import ./e2e/conformance/glob.mjs …`.
import fs from "node:fs";
import { register } from "node:module";

const HOOKS = `
const SHIM = ${JSON.stringify(
	`data:text/javascript,${encodeURIComponent(`
	export * from "node:fs";
	export { default } from "node:fs";
	export function globSync() { throw new Error("globSync: needs Node 22"); }
`)}`,
)};
export async function resolve(specifier, context, next) {
	const isSuite = /conformance(-0\\.1)?\\/dist\\/index\\.js$/.test(context.parentURL ?? "");
	return specifier === "fs" && isSuite ? { url: SHIM, shortCircuit: true } : next(specifier, context);
}`;

if (!("globSync" in fs)) {
	register(`data:text/javascript,${encodeURIComponent(HOOKS)}`);
}
