/** Each definition asks for the next one twice. */
function doubling(levels: number): object {
	const definitions = Array.from({ length: levels }, (_, at) => {
		const next = { $ref: `#/$defs/d${at + 1}` };
		return [`d${at}`, { anyOf: [{ allOf: [next, { required: ["y"] }] }, { allOf: [next, { required: ["z"] }] }] }];
	});
	return { $ref: "#/$defs/d0", $defs: { ...Object.fromEntries(definitions), [`d${levels}`]: { type: "object" } } };
}

interface EvilTool {
	readonly name: string;
	readonly inputSchema: Record<string, unknown>;
	readonly args: Record<string, unknown>;
}

/** Tools with schemas of a few kilobytes, and arguments whose check takes seconds and gigabytes. */
export const EVIL_TOOLS: readonly EvilTool[] = [
	{ name: "doubling", inputSchema: { type: "object", ...doubling(60) }, args: { x: 1 } },
	{
		name: "unique",
		inputSchema: { type: "object", properties: { list: { uniqueItems: true } } },
		args: { list: Array.from({ length: 30_000 }, (_, at) => ({ at })) },
	},
	{
		name: "pattern",
		inputSchema: { type: "object", properties: { text: { pattern: "(.*a){500}$" } } },
		args: { text: "a".repeat(200_000) },
	},
];
