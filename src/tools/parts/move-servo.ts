import { checkAngle } from "../../hardware/kinds/servo.js";
import { defineTool, done, findPart, number, SETS, string } from "../define-tool.js";

export default defineTool({
	name: "self.servo.move",
	title: "Move servo",
	description:
		"Turn the arm of a servo to an angle.\nself.get_device_status shows the range of each servo, and where it was moved last.",
	annotations: SETS,
	needs: ["servos"],
	input: {
		name: string({ maxLength: 64, description: "Which one" }),
		angle: number({ minimum: -180, maximum: 360, description: "Degrees" }),
	},
	check: ({ name, angle }, { servos }) => checkAngle(name, findPart(servos, "name", name), angle),
	run: async ({ name, angle }, { servos }) => {
		await findPart(servos, "name", name).move(angle);
		return done({ angle });
	},
});
