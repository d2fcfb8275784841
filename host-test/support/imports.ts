import { readdirSync, readFileSync } from "node:fs";

/** The modules that a file imports, or exports again, as it names them. */
export function importsOf(file: string): string[] {
	return [...readFileSync(file, "utf8").matchAll(/^(?:import|export)[^"';]*?from "([^"]+)"|^import "([^"]+)"/gm)].map(
		([, from, bare]) => from ?? bare ?? "",
	);
}

/** The path of an import, from the folder that the importing file's path begins in; a package's name as it is. */
export function resolveImport(specifier: string, path: string): string {
	return specifier.startsWith(".") ? new URL(specifier, `file:///${path}`).pathname.slice(1) : specifier;
}

/** Every source in a folder, without declarations, by its path from there. */
export function sourcesIn(folder: string): string[] {
	return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => /(?<!\.d)\.ts$/.test(path));
}

/** The nodes of the first cycle found, with its first node repeated at the end; empty if the graph has no cycle. */
export function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] {
	const done = new Set<string>();
	const visit = (node: string, path: readonly string[]): string[] => {
		const start = path.indexOf(node);
		if (start >= 0) {
			return [...path.slice(start), node];
		}
		if (done.has(node)) {
			return [];
		}
		for (const next of graph.get(node) ?? []) {
			const cycle = visit(next, [...path, node]);
			if (cycle.length > 0) {
				return cycle;
			}
		}
		done.add(node);
		return [];
	};
	for (const node of graph.keys()) {
		const cycle = visit(node, []);
		if (cycle.length > 0) {
			return cycle;
		}
	}
	return [];
}
