import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "xs-mcp/root";
import { temporaryFolder } from "./testing.js";

export const MANIFEST = {
	build: { NAME: "pond", XS_MCP: "./node_modules/xs-mcp" },
	include: ["$(XS_MCP)/manifest.json", "$(XS_MCP)/src/hardware/parts/manifest.json"],
	config: { name: "pond" },
	modules: { device: "./device", "tools/*": "./tools/*", "lib/*": "./lib/*" },
};

export const DEVICE = `import { analog, device, relay } from "xs-mcp";

export default device({
	parts: { pump: relay({ pin: 26, maxOn: 30 }), soil: analog({ pin: 34, kind: "moisture", unit: "%", from: [2900, 1200], to: [0, 100] }) },
});
`;

export const TOOL = `import { defineTool, READS } from "xs-mcp";
import { levelOf } from "../lib/level.js";

export default defineTool({
	name: "self.pond.level", description: "Read it.", annotations: READS, needs: [], run: () => ({ level: levelOf(2) }),
});
`;

export function ownProject(files: Readonly<Record<string, string | undefined>> = {}): string {
	const folder = join(temporaryFolder(), "my own pond");
	const all = {
		"manifest.json": JSON.stringify(MANIFEST),
		"device.ts": DEVICE,
		"tools/level.ts": TOOL,
		"lib/level.ts": "export const levelOf = (sensor: number): number => sensor * 10;\n",
		...files,
	};
	for (const [path, text] of Object.entries(all)) {
		mkdirSync(join(folder, path, ".."), { recursive: true });
		if (text !== undefined) {
			writeFileSync(join(folder, path), text);
		}
	}
	mkdirSync(join(folder, "node_modules"));
	symlinkSync(ROOT, join(folder, "node_modules", "xs-mcp"));
	return folder;
}
