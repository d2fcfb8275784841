import { ACTS, defineTool, findPart, string } from "../define-tool.js";

export default defineTool({
	name: "self.line.send",
	title: "Send a line",
	description:
		"Send a line of text to what is connected to a serial port of the device, such as a scale or another controller.\n" +
		"self.get_device_status shows the line that arrived last; it may be an answer.",
	annotations: ACTS,
	needs: ["lines"],
	input: {
		name: string({ maxLength: 64, description: "Which one" }),
		text: string({ maxLength: 128, description: "One line, without its end" }),
	},
	run: ({ name, text }, { lines }) => {
		findPart(lines, "name", name).send(text);
		return true;
	},
});
