import { defineTool, done, integer, number, optional, SETS } from "./define-tool.js";

export default defineTool({
	name: "self.head.move",
	title: "Move head",
	description:
		"Turn and tilt your head. Without yaw or pitch, that one stays. Within 45 degrees looks natural.\n" +
		"self.get_device_status shows the range of both servos, and where they are.",
	annotations: SETS,
	needs: ["head"],
	input: {
		yaw: optional(number({ minimum: -180, maximum: 180, description: "Degrees; negative to your left, 0 ahead" })),
		pitch: optional(number({ minimum: -90, maximum: 90, description: "Degrees; positive up" })),
		speed: optional(integer({ minimum: 10, maximum: 300, description: "Degrees per second. Default 120" })),
	},
	check: (args, { head }) => {
		if (args.yaw === undefined && args.pitch === undefined) {
			throw new Error("expected yaw, pitch or both");
		}
		head.check(args);
	},
	run: async ({ speed, ...direction }, { head }) => {
		await head.move(direction, speed);
		return done(direction);
	},
});
