// A tool of your own: docs/add-a-tool.md adds it to the firmware.
import { boolean, defineTool, enumeration, integer, SETS } from "../src/tools/define-tool.js";

const COLORS = { red: [255, 0, 0], green: [0, 255, 0], warm: [255, 180, 90] } as const;

export default defineTool({
	name: "self.lamp.set",
	title: "Set lamp",
	description: "Switch the lamp on or off, and set its colour and brightness.",
	annotations: SETS,
	needs: ["settings"],
	input: {
		on: boolean({ description: "Whether the lamp shines" }),
		color: enumeration(["red", "green", "warm"], { default: "warm" }),
		brightness: integer({ minimum: 1, maximum: 100, default: 100, description: "Percent" }),
	},
	run: ({ on, color, brightness }, { settings }) => {
		const rgb = COLORS[color].map((part) => Math.round(on ? (part * brightness) / 100 : 0));
		// On a real board: write `rgb` to the pins. Here the lamp only remembers.
		settings.set("lamp", "rgb", rgb.join(","));
		return { on, rgb };
	},
});
