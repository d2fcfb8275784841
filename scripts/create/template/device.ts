import { device, relay } from "xs-mcp";

/** What is connected to the board. Each part is in the device's status, and is a tool for agents. */
export default device({
	board: "{{target}}",
	parts: {
		lamp: relay({ pin: 4, title: "Lamp" }),
	},
});
