// What must not compile, and what must be inferred: checked by `npm run typecheck`, never run.
import { array, boolean, enumeration, integer, object, optional, string } from "../src/mcp_server/schema.js";
import { defineTool } from "../src/tools/define-tool.js";

const about = { name: "t", description: "" };

defineTool({
	...about,
	needs: ["speaker"],
	input: {
		volume: integer(),
		theme: enumeration(["light", "dark"]),
		loud: boolean({ default: false }),
		note: optional(string()),
		points: array(object({ x: integer(), label: optional(string()) })),
	},
	run({ volume, theme, loud, note, points }, { speaker, screen }) {
		speaker.volume = volume satisfies number;
		const isDark: boolean = theme === "dark" || loud;
		const words: string | undefined = note ?? points[0]?.label;
		const sum: number = points.reduce((total, { x }) => total + x, 0);
		// @ts-expect-error a string is no number
		speaker.volume = theme;
		// @ts-expect-error no such theme
		const isBlue = theme === "blue";
		// @ts-expect-error the screen was not asked for, and may be missing
		screen.brightness = sum;
		return { isDark, words, isBlue };
	},
});

// @ts-expect-error a tool must return something
defineTool({ ...about, needs: [], run() {} });

// @ts-expect-error no such part
defineTool({ ...about, needs: ["wings"], run: () => true });

// @ts-expect-error no such argument
defineTool({ ...about, needs: [], input: { a: integer() }, run: ({ b }) => b });

defineTool({ ...about, needs: [], output: { level: integer() }, run: () => ({ level: 1 }) });

// @ts-expect-error not what the output promises
defineTool({ ...about, needs: [], output: { level: integer() }, run: () => ({ level: "1" }) });

// @ts-expect-error a default that is none of the values
enumeration(["a", "b"], { default: "c" });
