import { defineTool, done, number, SETS } from "./define-tool.js";

const FAR = 10_000;

export default defineTool({
	name: "self.head.look_at",
	title: "Look at",
	description: "Look at a point in the room, as far as your head turns. Distances are centimetres from your eyes.",
	annotations: SETS,
	needs: ["head"],
	input: {
		ahead: number({ minimum: -FAR, maximum: FAR, description: "Negative behind you" }),
		right: number({ minimum: -FAR, maximum: FAR, description: "Negative to your left" }),
		up: number({ minimum: -FAR, maximum: FAR, description: "Negative below" }),
	},
	run: async ({ ahead, right, up }, { head }) => done(await head.lookAt(ahead, right, up)),
});
