// The types of a library that is published as a bundle: a file for each export, with the types of the packages that are in the
// bundle. A program that uses the library then needs none of these packages, and its compiler reads none of their files.

import { fileURLToPath } from "node:url";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";

const root = fileURLToPath(new URL("../", import.meta.url));

/** The packages whose types the library's declarations name. */
const INCLUDED = [
	"@modelcontextprotocol/client",
	"@modelcontextprotocol/core",
	"@modelcontextprotocol/server",
	"commander",
	"eventsource",
	"eventsource-parser",
	"jose",
	"zod",
];

/** Packages whose types cannot be bundled. */
const NOT_INCLUDED = ["mqtt", "pino"];

/**
 * Writes the declarations into a folder. Rejects with Error if one of them would need a package other than Node's types.
 *
 * @param entries the sources of the exports, by the names of their files
 */
export async function bundleDeclarations(entries, folder) {
	const bundle = await rollup({
		input: entries,
		external: [/^node:/, "piscina", ...NOT_INCLUDED],
		// The types of packages that are not exported by name keep their place in a shared file.
		onwarn: () => {},
		plugins: [
			dts({
				includeExternal: INCLUDED,
				tsconfig: `${root}tsconfig.node.json`,
				compilerOptions: {
					composite: false,
					incremental: false,
					paths: {
						"xs-mcp-manager": [`${root}mcp-manager/src/manager/index.ts`],
						"xs-mcp-manager/*": [`${root}mcp-manager/src/*/index.ts`],
					},
				},
			}),
		],
	});
	const { output } = await bundle.write({ dir: folder, format: "es" });
	await bundle.close();
	const needed = output
		.flatMap(({ imports }) => imports)
		.filter((path) => !/^node:|\.d\.ts$/.test(path) && !NOT_INCLUDED.includes(path));
	if (needed.length > 0) {
		throw new Error(
			`the declarations need ${[...new Set(needed)].join(", ")}: add them to INCLUDED in scripts/declarations.mjs`,
		);
	}
}
